import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { withIdentity } from "./identity-client.ts";
import type { PLACE_FLAGS } from "./role-commands.ts";

export async function principalList(call: Call<typeof PLACE_FLAGS>): Promise<undefined> {
  const { json, io, flags } = call;
  const { principals } = await withIdentity(call, (identity) => identity.principals({ workspace: flags.workspace }));
  if (json) {
    io.out(JSON.stringify({ principals }));
    return;
  }
  const shown = (names: readonly string[]) => printable(names.join(",") || "-");
  const rows = principals.map(({ principal, kind, workspaces, roles, groups, madeBy = [] }) => [
    printable(principal),
    kind,
    shown(workspaces),
    shown(roles),
    shown(groups),
    shown(madeBy),
  ]);
  io.out(formatTable(["PRINCIPAL", "KIND", "WORKSPACES", "ROLES", "GROUPS", "MADE BY"], rows, io.paint));
}
