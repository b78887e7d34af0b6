import type { WebhookInfo } from "../../protocol/webhooks/api.ts";
import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";

export async function webhookEnable({ args, json, config, io }: Call): Promise<undefined> {
  const path = `/v1/host/assay/webhooks/${encodeURIComponent(args[0] ?? "")}:enable`;
  const webhook = await connect(config).json<WebhookInfo>(path, { method: "POST" });
  io.out(json ? JSON.stringify(webhook) : `${webhook.webhookId} ${webhook.state}`);
}
