import { relative } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import type { Call, Flags } from "../program/command.ts";
import { describeDatabase } from "../server/database.ts";
import type { EvalBackend } from "./eval-backend.ts";

/** Any command that asks for evaluations. */
export type EvalCall = Pick<Call<Flags>, "config" | "given" | "isSet" | "io" | "json">;

/**
 * Whether an evaluation is to be carried out on a server: when one is named, by flag or by a setting, unless `--data` or
 * `--database-url` is given as a flag. A database in a file of settings or in the environment is the server's.
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

/**
 * Where evaluations are looked up: where a flag of this call says, else where the last `eval run` of this folder kept its result, so
 * that a server's address in the environment does not part a command from the evaluation before it.
 */
async function looksAtServer(call: EvalCall): Promise<boolean> {
  const { given, config } = call;
  if (!wantsServer(call) || given.has("url") || given.has("key")) return wantsServer(call);
  return !(await import("./last-place.ts")).wasHere(config.data);
}

export interface BackendNeeds {
  readonly mayBeNew?: boolean;
  /** The command only reads, so it also works while an evaluation is under way in the same folder. */
  readonly reads?: boolean;
}

/** What opens a database or talks to a server is loaded when it is needed. */
export async function chosenBackend(
  call: EvalCall,
  { mayBeNew = false, reads = false }: BackendNeeds = {},
): Promise<EvalBackend> {
  const server = await looksAtServer(call);
  if (!call.json) call.io.err(`assay: looking ${placeText(call, server)}`);
  if (server) return (await import("./server-backend.ts")).serverBackend(call.config);
  const { requireEvals } = await import("./evals-file.ts");
  const config = ownConfig(call);
  if (!mayBeNew) requireEvals(config);
  return (await import("./own-backend.ts")).ownBackend(config, call.io, { reads });
}

function placeText(call: EvalCall, server: boolean): string {
  const { url } = call.config;
  if (server) return `at ${url}`;
  return wantsServer(call)
    ? `${keptText(call)}, where the last evaluation was kept; --url ${url} looks there`
    : keptText(call);
}

/** The place of evaluations of this machine in words. */
export function keptText(call: Pick<EvalCall, "config" | "given">): string {
  const { data, databaseUrl } = ownConfig(call);
  if (databaseUrl !== undefined) return `in ${describeDatabase({ data, databaseUrl })}`;
  const shown = relative(process.cwd(), data);
  return `in ${printable(shown === "" || shown.startsWith("..") ? data : shown)}`;
}

export function ownConfig({ config, given }: Pick<EvalCall, "config" | "given">): EvalCall["config"] {
  return given.has("databaseUrl") ? config : { ...config, databaseUrl: undefined };
}

export async function withBackend<T>(
  call: EvalCall,
  use: (backend: EvalBackend) => Promise<T>,
  needs: BackendNeeds = {},
): Promise<T> {
  const backend = await chosenBackend(call, needs);
  try {
    return await use(backend);
  } catch (error) {
    throw ofEvaluations(error, (await looksAtServer(call)) ? undefined : keptText(call));
  } finally {
    await backend.close();
  }
}

/** A run that is not there is an evaluation to these commands; and a folder has no keys that could hide one. */
export function ofEvaluations(error: unknown, place: string | undefined): unknown {
  if (!(error instanceof AppError && error.code === "not_found")) return error;
  const isRun = error.details["what"] === "run";
  const about = new AppError("not_found", { ...error.details, ...(isRun ? { what: "evaluation" } : {}) });
  const message = isRun ? error.message.replace(/\bno run\b/, "no evaluation") : error.message;
  about.message = place === undefined ? message : message.replace("here that this key can see", () => place);
  return about;
}
