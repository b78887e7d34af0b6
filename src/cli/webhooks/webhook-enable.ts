import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";

export async function webhookEnable({ args, json, config, io }: Call): Promise<undefined> {
  const webhook = await connect(config).webhooks.enable(args[0] ?? "");
  io.out(json ? JSON.stringify(webhook) : `${webhook.webhookId} ${webhook.state}`);
}
