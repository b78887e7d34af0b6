import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { replacement } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { PLACE_FLAGS, PRINCIPAL_SET_FLAGS, ROLE_SET_FLAGS, TENANT_FLAGS } from "./commands.ts";
import { withIdentity } from "./keys.ts";

export async function roleList(call: Call<typeof PLACE_FLAGS>): Promise<undefined> {
  const { workspace } = call.flags;
  const { roles } = await withIdentity(call, (identity) => identity.roles({ workspace }));
  const answer = { roles };
  printList(call, roles, answer, {
    headings: ["ROLE", "DEFINED BY", "SCOPES"],
    row: ({ role, scopes, builtIn, workspace }) => [
      printable(role),
      builtIn ? "built in" : printable(workspace ?? "tenant"),
      listed(scopes),
    ],
  });
}

export async function roleSet(call: Call<typeof ROLE_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [role = ""] = args;
  const scopes = replacement("--scopes", flags.scopes);
  if (scopes === undefined) throw unusableInput("--scopes is missing; none makes a role that only gates ask for");
  const request = { role, scopes, ...defined({ workspace: flags.workspace }) };
  const info = await withIdentity(call, (identity) => identity.defineRole(request));
  io.out(json ? JSON.stringify(info) : printable(`${info.role}: ${info.scopes.join(", ") || "no scopes"}`));
}

export async function roleRemove(call: Call<typeof PLACE_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [role = ""] = args;
  await withIdentity(call, (identity) => identity.removeRole(role, { workspace: flags.workspace }));
  io.out(json ? JSON.stringify({ role, removed: true }) : printable(`${role} removed`));
}

export async function principalList(call: Call<typeof PLACE_FLAGS>): Promise<undefined> {
  const { workspace } = call.flags;
  const { principals } = await withIdentity(call, (identity) => identity.principals({ workspace }));
  const answer = { principals };
  printList(call, principals, answer, {
    headings: ["PRINCIPAL", "KIND", "WORKSPACES", "ROLES", "GROUPS", "MADE BY"],
    row: ({ principal, kind, workspaces, roles, groups, madeBy = [] }) => [
      printable(principal),
      kind,
      ...[workspaces, roles, groups, madeBy].map(listed),
    ],
  });
}

function listed(names: readonly string[]): string {
  return printable(names.join(",") || "-");
}

export async function principalSet(call: Call<typeof PRINCIPAL_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [principal = ""] = args;
  const request = defined({
    roles: replacement("--roles", flags.roles),
    groups: replacement("--group", flags.group),
    workspace: flags.workspace,
  });
  const info = await withIdentity(call, (identity) => identity.setPrincipal(principal, request));
  const names = (list: readonly string[]) => list.join(", ") || "none";
  const text = `${info.principal}: roles ${names(info.roles)}; groups ${names(info.groups)}`;
  io.out(json ? JSON.stringify(info) : printable(text));
}

export async function principalConfirm(call: Call<typeof TENANT_FLAGS>): Promise<undefined> {
  const { args, json, io } = call;
  const [principal = ""] = args;
  const answer = await withIdentity(call, (identity) => identity.confirmPrincipal(principal));
  const { makers, confirmedKeys } = answer;
  const text =
    confirmedKeys.length === 0
      ? `${principal}: nothing to confirm`
      : `${principal}: ${confirmedKeys.length} keys count independently of ${makers.join(", ")}`;
  io.out(json ? JSON.stringify(answer) : printable(text));
}
