import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { RegisterWebhookRequest } from "../../protocol/webhooks/api.ts";
import { connect, readUpTo } from "../client/client.ts";
import { readText } from "../files/arguments.ts";
import { formatAgo } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import { formatFields, printList } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { WEBHOOK_CREATE_FLAGS, WEBHOOK_DELIVERIES_FLAGS, WEBHOOK_REDELIVER_FLAGS } from "./commands.ts";

export async function webhookCreate(call: Call<typeof WEBHOOK_CREATE_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const body = createRequest(args[0] ?? "", flags);
  const made = await connect(config).webhooks.register(body);
  if (json) return void io.out(JSON.stringify(made));
  // A secret of the caller is not printed, since terminals keep their output.
  const isOwn = body.secret !== undefined;
  const secret = isOwn ? { Fingerprint: made.secretFingerprint } : { Secret: made.secret };
  io.out(formatFields({ Webhook: made.webhookId, ...secret }, io.paint));
  if (!isOwn) io.err("The secret is not shown again. Receivers check signatures with it.");
  return undefined;
}

function createRequest(url: string, flags: FlagValues<typeof WEBHOOK_CREATE_FLAGS>): RegisterWebhookRequest {
  const { event: events, tag: tags, secretFile } = flags;
  if (events.length === 0) {
    throw unusableInput("--event is missing; name event types, a family such as 'approval.*', or '*' for all");
  }
  return defined({
    url,
    events: [...events],
    tags: tags.length === 0 ? undefined : [...tags],
    secret: secretFile === undefined ? undefined : readText(secretFile, "--secret-file").trim(),
  });
}

export async function webhookList(call: Call): Promise<undefined> {
  const { webhooks } = await connect(call.config).webhooks.list();
  const { paint } = call.io;
  const answer = { webhooks };
  printList(call, webhooks, answer, {
    empty: "No webhooks yet. Make one with: assay webhook create URL --event TYPE",
    headings: ["WEBHOOK", "STATE", "FAILURES", "EVENTS", "TAGS", "URL"],
    row: (webhook) => [
      webhook.webhookId,
      webhook.state === "active" ? paint.green(webhook.state) : paint.yellow(webhook.state),
      String(webhook.failures),
      printable(webhook.events.join(",")),
      printable(webhook.tags.join(",") || "-"),
      printable(webhook.url),
    ],
  });
}

export async function webhookDelete({ args, json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  for (const webhookId of args) {
    await client.webhooks.delete(webhookId);
    if (!json) io.out(printable(`${webhookId} deleted`));
  }
  if (json) io.out(JSON.stringify({ deleted: args }));
}

const LIMIT = 20;

export async function webhookDeliveries(call: Call<typeof WEBHOOK_DELIVERIES_FLAGS>): Promise<undefined> {
  const { args, flags, config } = call;
  const { limit = LIMIT, state } = flags;
  const client = connect(config);
  const answer = await readUpTo(limit, "deliveries", (page) =>
    client.webhooks.deliveries(args[0] ?? "", { state, ...page }),
  );
  const nowMs = Date.now();
  printList(call, answer.deliveries, answer, {
    empty: state === undefined ? "Nothing was delivered yet." : `Nothing is ${state}.`,
    limit,
    headings: ["DELIVERY", "EVENT", "RUN", "STATE", "ATTEMPTS", "MADE", "LAST ANSWER"],
    row: (delivery) => [
      delivery.deliveryId,
      printable(delivery.eventType),
      delivery.runId,
      delivery.state,
      String(delivery.attempts),
      formatAgo(delivery.createdAt, nowMs),
      printable(delivery.lastError ?? (delivery.lastStatus === undefined ? "-" : String(delivery.lastStatus))),
    ],
  });
}
export async function webhookRedeliver(call: Call<typeof WEBHOOK_REDELIVER_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const done = await connect(config).webhooks.redeliver(args[0] ?? "", { deliveryId: flags.delivery });
  const { redelivered } = done;
  if (json) io.out(JSON.stringify(done));
  else io.out(redelivered === 1 ? "1 delivery is sent again" : `${redelivered} deliveries are sent again`);
}

export async function webhookEnable({ args, json, config, io }: Call): Promise<undefined> {
  const webhook = await connect(config).webhooks.enable(args[0] ?? "");
  io.out(json ? JSON.stringify(webhook) : `${webhook.webhookId} ${webhook.state}`);
}

export async function webhookTest({ args, json, config, io }: Call): Promise<number> {
  const tried = await connect(config).webhooks.test(args[0] ?? "");
  const { delivered, status, error } = tried;
  const answer = error ?? `the receiver answered ${status}`;
  if (json) io.out(JSON.stringify(tried));
  else io.out(printable(delivered ? `delivered: ${answer}` : `not delivered: ${answer}`));
  return delivered ? EXIT.fine : EXIT.negative;
}
