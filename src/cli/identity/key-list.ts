import type { KeyInfo } from "../../protocol/runs/api.ts";
import { formatAgo } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { KEY_LIST_FLAGS } from "./commands.ts";
import { withIdentity } from "./identity-client.ts";

export async function keyList(call: Call<typeof KEY_LIST_FLAGS>): Promise<undefined> {
  const { json, io } = call;
  const { keys } = await withIdentity(call, (identity) => identity.keys());
  if (json) io.out(JSON.stringify({ keys }));
  else if (keys.length === 0)
    io.err("No keys. Make one with: assay key create --principal ID --roles owner --data DIR");
  else io.out(table(keys, io.paint, Date.now()));
}

function table(keys: readonly KeyInfo[], paint: Paint, nowMs: number): string {
  const rows = keys.map((key) => [
    key.keyId,
    printable(`${key.principal}${key.kind === "user" ? "" : ` (${key.kind})`}`),
    printable(key.workspace ?? "-"),
    printable(key.roles.join(",") || "-"),
    printable(key.groups.join(",") || "-"),
    printable(key.scopes.join(",")),
    state(key, paint, nowMs),
    formatAgo(key.lastUsedAt, nowMs),
    printable(key.label ?? ""),
  ]);
  return formatTable(
    ["KEY ID", "PRINCIPAL", "WORKSPACE", "ROLES", "GROUPS", "SCOPES", "STATE", "USED", "LABEL"],
    rows,
    paint,
  );
}

function state({ revokedAt, expiresAt }: KeyInfo, paint: Paint, nowMs: number): string {
  if (revokedAt !== undefined) return paint.yellow("revoked");
  if (expiresAt === undefined) return paint.green("valid");
  return Date.parse(expiresAt) <= nowMs ? paint.yellow("expired") : `until ${expiresAt.slice(0, 16)}Z`;
}
