import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { withIdentity } from "./identity-client.ts";
import type { PLACE_FLAGS } from "./role-commands.ts";

export async function roleRemove(call: Call<typeof PLACE_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [role = ""] = args;
  await withIdentity(call, (identity) => identity.removeRole(role, { workspace: flags.workspace }));
  io.out(json ? JSON.stringify({ role, removed: true }) : printable(`${role} removed`));
}
