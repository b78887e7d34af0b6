import type { WebhookInfo } from "../../protocol/webhooks/api.ts";
import { connect } from "../client/client.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";

export async function webhookList({ json, config, io }: Call): Promise<undefined> {
  const { webhooks } = await connect(config).webhooks.list();
  if (json) {
    io.out(JSON.stringify({ webhooks }));
    return;
  }
  if (webhooks.length === 0) {
    io.err("No webhooks yet. Make one with: assay webhook create URL --event TYPE");
    return;
  }
  const rows = webhooks.map((webhook) => [
    webhook.webhookId,
    paintState(webhook.state, io.paint),
    String(webhook.failures),
    printable(webhook.events.join(",")),
    printable(webhook.tags.join(",") || "-"),
    printable(webhook.url),
  ]);
  io.out(formatTable(["WEBHOOK", "STATE", "FAILURES", "EVENTS", "TAGS", "URL"], rows, io.paint));
}

function paintState(state: WebhookInfo["state"], paint: Paint): string {
  return state === "active" ? paint.green(state) : paint.yellow(state);
}
