import { AppError } from "../../protocol/errors.ts";
import type { Call, Flags } from "../command.ts";
import type { EvalHome } from "./eval-home.ts";

/** Any command that asks for evaluations. */
export type EvalCall = Pick<Call<Flags>, "config" | "given" | "isSet" | "io">;

/**
 * A server when one is named, by flag or by a setting; else, or with `--data` or `--database-url` as a flag, the database of this
 * machine. Where a file or the environment has a database, that is the server's.
 */
export function wantsServer({ given, isSet }: Pick<EvalCall, "given" | "isSet">): boolean {
  const direct = given.has("data") || given.has("databaseUrl");
  if (direct && (given.has("url") || given.has("key"))) {
    throw new AppError("unusable_input", {
      problem: "use either --url and --key, or --data or --database-url, not both",
    });
  }
  return !direct && isSet("url");
}

/** Where evaluations are looked up. What opens a database or talks to a server is loaded when it is needed. */
export async function chosenHome(call: EvalCall, { mayBeNew = false } = {}): Promise<EvalHome> {
  if (wantsServer(call)) return (await import("./server-home.ts")).serverHome(call.config);
  const { requireExisting } = await import("../database.ts");
  const config = ownConfig(call);
  if (!mayBeNew) requireExisting(config);
  return (await import("./own-home.ts")).ownHome(config, call.io);
}

export function ownConfig({ config, given }: Pick<EvalCall, "config" | "given">): EvalCall["config"] {
  return given.has("databaseUrl") ? config : { ...config, databaseUrl: undefined };
}

export async function withHome<T>(
  call: EvalCall,
  use: (home: EvalHome) => Promise<T>,
  settings: { readonly mayBeNew?: boolean } = {},
): Promise<T> {
  const home = await chosenHome(call, settings);
  try {
    return await use(home);
  } finally {
    await home.close();
  }
}
