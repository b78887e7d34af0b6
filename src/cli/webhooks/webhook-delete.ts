import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";

export async function webhookDelete({ args, json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  for (const webhookId of args) {
    await client.webhooks.delete(webhookId);
    if (!json) io.out(printable(`${webhookId} deleted`));
  }
  if (json) io.out(JSON.stringify({ deleted: args }));
}
