import { AppError } from "../../protocol/errors.ts";
import { replacement } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { withIdentity } from "./identity-client.ts";
import type { ROLE_SET_FLAGS } from "./role-commands.ts";

export async function roleSet(call: Call<typeof ROLE_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [role = ""] = args;
  const scopes = replacement("--scopes", flags.scopes);
  if (scopes === undefined) {
    throw new AppError("unusable_input", { problem: "--scopes is missing; none makes a role that only gates ask for" });
  }
  const place = flags.workspace === undefined ? {} : { workspace: flags.workspace };
  const info = await withIdentity(call, (identity) => identity.defineRole({ role, scopes, ...place }));
  io.out(json ? JSON.stringify(info) : printable(`${info.role}: ${info.scopes.join(", ") || "no scopes"}`));
}
