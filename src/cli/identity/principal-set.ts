import type { SetPrincipalRequest } from "../../protocol/identity/role-api.ts";
import { replacement } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { withIdentity } from "./identity-client.ts";
import type { PRINCIPAL_SET_FLAGS } from "./role-commands.ts";

export async function principalSet(call: Call<typeof PRINCIPAL_SET_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const [principal = ""] = args;
  const [roles, groups] = [replacement("--roles", flags.roles), replacement("--group", flags.group)];
  const request: SetPrincipalRequest = {
    ...(roles === undefined ? {} : { roles }),
    ...(groups === undefined ? {} : { groups }),
    ...(flags.workspace === undefined ? {} : { workspace: flags.workspace }),
  };
  const info = await withIdentity(call, (identity) => identity.setPrincipal(principal, request));
  const names = (list: readonly string[]) => list.join(", ") || "none";
  const text = `${info.principal}: roles ${names(info.roles)}; groups ${names(info.groups)}`;
  io.out(json ? JSON.stringify(info) : printable(text));
}
