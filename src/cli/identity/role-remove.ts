import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { withKeys } from "./keys-of.ts";
import type { PLACE_FLAGS } from "./role-commands.ts";

export async function roleRemove(call: Call<typeof PLACE_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [role = ""] = args;
  await withKeys(call, (keys) => keys.removeRole(role, flags.workspace));
  io.out(json ? JSON.stringify({ role, removed: true }) : printable(`${role} removed`));
}
