import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { ADD_MAX, AddItemsResponse, AdjudicateRequest, QueueItemView } from "../../protocol/queues/api.ts";
import { type Client, readUpTo } from "../client/client.ts";
import { confidence as confidenceOf, readText } from "../files/arguments.ts";
import { formatCount } from "../output/amount.ts";
import { askedFor, showItem, stateText } from "../output/describe-queue.ts";
import { printable } from "../output/printable.ts";
import { printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type {
  QUEUE_ADD_FLAGS,
  QUEUE_ADJUDICATE_FLAGS,
  QUEUE_ITEMS_FLAGS,
  QUEUE_JUDGE_FLAGS,
  QUEUE_NEXT_FLAGS,
  QUEUE_REASON_FLAGS,
} from "./commands.ts";
import { judgmentValue, namedQueue } from "./queues.ts";

/** As many as one request takes; the schema with this limit is not loaded for it. */
const ADDED_AT_ONCE: typeof ADD_MAX = 100;

export async function queueAdd(call: Call<typeof QUEUE_ADD_FLAGS>): Promise<undefined> {
  const { args, flags, json, io } = call;
  const { client, queue } = await namedQueue(call);
  const runIds = args.slice(1);
  const { node: nodeId, event: eventId } = flags;
  if (eventId !== undefined && (runIds.length > 1 || nodeId !== undefined)) {
    throw unusableInput("--event goes with one run, and not with --node");
  }
  const items = runIds.map((runId) => defined({ runId, nodeId, eventId }));
  const total: AddItemsResponse = { added: [], known: 0 };
  for (let i = 0; i < items.length; i += ADDED_AT_ONCE) {
    const { added, known } = await client.queues.addItems(queue.queueId, { items: items.slice(i, i + ADDED_AT_ONCE) });
    total.added.push(...added);
    total.known += known;
  }
  const known = total.known > 0 ? `, ${total.known} known already` : "";
  io.out(json ? JSON.stringify(total) : `${formatCount(total.added.length, "item")} added${known}`);
}

const SHOWN = 50;

export async function queueItems(call: Call<typeof QUEUE_ITEMS_FLAGS>): Promise<undefined> {
  const { flags, io } = call;
  const { limit = SHOWN, ...filter } = flags;
  const { client, queue } = await namedQueue(call);
  const answer = await readUpTo(limit, "items", (page) => client.queues.items(queue.queueId, { ...filter, ...page }));
  printList(call, answer.items, answer, {
    empty: "No such items.",
    limit,
    headings: ["ITEM", "STATE", "RUN", "FINAL", "MINE", "JUDGMENTS"],
    row: (item) => [
      item.itemId,
      stateText(item, io.paint),
      printable(`${item.runId} ${item.nodeId ?? item.eventId ?? ""}`.trimEnd()),
      item.final === null ? "-" : printable(String(item.final.value)),
      item.mine?.status ?? "-",
      item.judgments === null ? io.paint.dim("hidden") : judgmentsText(item.judgments),
    ],
  });
}

function judgmentsText(judgments: NonNullable<QueueItemView["judgments"]>): string {
  return printable(judgments.map(({ reviewer, value }) => `${reviewer}: ${value}`).join(", ")) || "-";
}

export async function queueNext(call: Call<typeof QUEUE_NEXT_FLAGS>): Promise<number> {
  const { args, flags, json, io } = call;
  const { client, queue } = await namedQueue(call);
  const { item } = await client.queues.next(queue.queueId, { leaseSeconds: flags.lease });
  if (json) io.out(JSON.stringify({ item }));
  else if (item === null) io.err("There is nothing for you in this queue now.");
  else {
    const named = printable(args[0] ?? "");
    const asked = printable(askedFor(queue.judgment));
    io.out(showItem(item, { paint: io.paint, nowMs: Date.now() }));
    io.err(`Look at it with: assay run show ${item.runId}`);
    io.err(`Judge it with:   assay queue judge ${named} ${item.itemId} VALUE  (${asked})`);
  }
  return item === null ? EXIT.negative : EXIT.fine;
}

export function queueJudge(call: Call<typeof QUEUE_JUDGE_FLAGS>): Promise<undefined> {
  const { confidence, revise } = call.flags;
  const more = defined({
    confidence: confidence === undefined ? undefined : confidenceOf("--confidence", confidence),
    revise: revise || undefined,
  });
  return judge(call, ({ queues }, queueId, itemId, body) => queues.judge(queueId, itemId, { ...body, ...more }));
}

export function queueAdjudicate(call: Call<typeof QUEUE_ADJUDICATE_FLAGS>): Promise<undefined> {
  return judge(call, ({ queues }, ...request) => queues.adjudicate(...request));
}

type Judge = (client: Client, queueId: string, itemId: string, body: AdjudicateRequest) => PromiseLike<QueueItemView>;

function judge(call: Call<typeof QUEUE_ADJUDICATE_FLAGS>, send: Judge): Promise<undefined> {
  const { args, flags } = call;
  const { note, correction } = flags;
  return changeItem(call, ({ client, queue }, itemId) => {
    const value = judgmentValue(queue.judgment, args[2] ?? "");
    return send(client, queue.queueId, itemId, defined({ value, note, correction: textOf(correction) }));
  });
}

function textOf(argument: string | undefined): string | undefined {
  return argument?.startsWith("@") ? readText(argument.slice(1), "--correction") : argument;
}

export function queueSkip(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  const reason = requireReason(call, "say why you leave it to others");
  return changeItem(call, ({ client, queue }, itemId) => client.queues.skip(queue.queueId, itemId, { reason }));
}

export function queueDrop(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  const reason = requireReason(call, "say why it is not to be judged");
  return changeItem(call, ({ client, queue }, itemId) => client.queues.closeItem(queue.queueId, itemId, { reason }));
}

export function queueRequeue(call: Call<typeof QUEUE_REASON_FLAGS>): Promise<undefined> {
  const { reason } = call.flags;
  return changeItem(call, ({ client, queue }, itemId) => client.queues.requeue(queue.queueId, itemId, { reason }));
}

function requireReason({ flags }: Call<typeof QUEUE_REASON_FLAGS>, advice: string): string {
  if (flags.reason === undefined) throw unusableInput(`--reason is missing; ${advice}`);
  return flags.reason;
}

type Change = (named: Awaited<ReturnType<typeof namedQueue>>, itemId: string) => PromiseLike<QueueItemView>;

/** Changes the item that a command names after its queue, and prints it as it is then. */
async function changeItem(call: Pick<Call, "args" | "config" | "json" | "io">, change: Change): Promise<undefined> {
  const { args, json, io } = call;
  const item = await change(await namedQueue(call), args[1] ?? "");
  io.out(json ? JSON.stringify(item) : showItem(item, { paint: io.paint, nowMs: Date.now() }));
}
