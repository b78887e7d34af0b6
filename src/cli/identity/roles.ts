import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { withIdentity } from "./identity-client.ts";
import type { PLACE_FLAGS } from "./role-commands.ts";

export async function roleList(call: Call<typeof PLACE_FLAGS>): Promise<undefined> {
  const { json, io, flags } = call;
  const { roles } = await withIdentity(call, (identity) => identity.roles({ workspace: flags.workspace }));
  if (json) {
    io.out(JSON.stringify({ roles }));
    return;
  }
  const rows = roles.map(({ role, scopes, builtIn, workspace }) => [
    printable(role),
    builtIn ? "built in" : printable(workspace ?? "tenant"),
    printable(scopes.join(",") || "-"),
  ]);
  io.out(formatTable(["ROLE", "DEFINED BY", "SCOPES"], rows, io.paint));
}
