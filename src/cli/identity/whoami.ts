import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatFields } from "../output/table.ts";
import type { Call } from "../program/command.ts";

export async function whoami({ json, config, io }: Call): Promise<undefined> {
  const me = await connect(config).identity.whoAmI();
  if (json) {
    io.out(JSON.stringify(me));
    return;
  }
  const fields = {
    Server: config.url,
    Tenant: me.tenant,
    Workspace: me.workspace,
    Principal: `${me.principal} (${me.kind})`,
    Roles: me.roles.join(", ") || "none",
    Groups: me.groups.join(", ") || "none",
    Scopes: me.scopes.join(", ") || "none",
  };
  const shown = Object.entries(fields).map(([name, value]) => [name, value === undefined ? value : printable(value)]);
  io.out(formatFields(Object.fromEntries(shown), io.paint));
}
