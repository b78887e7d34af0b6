import { AppError } from "../../protocol/errors.ts";
import type { AdjudicateRequest, QueueItemView } from "../../protocol/queues/api.ts";
import { type Client, connect } from "../client/client.ts";
import { readText } from "../files/arguments.ts";
import { showItem } from "../output/describe-queue.ts";
import type { Call } from "../program/command.ts";
import type { QUEUE_ADJUDICATE_FLAGS, QUEUE_JUDGE_FLAGS } from "./commands.ts";
import { findQueue, judgmentValue } from "./queue-client.ts";

export function queueJudge(call: Call<typeof QUEUE_JUDGE_FLAGS>): Promise<undefined> {
  const { confidence, revise } = call.flags;
  const more = {
    ...(confidence === undefined ? {} : { confidence: confidenceOf(confidence) }),
    ...(revise ? { revise } : {}),
  };
  return judge(call, ({ queues }, queueId, itemId, body) => queues.judge(queueId, itemId, { ...body, ...more }));
}

export function queueAdjudicate(call: Call<typeof QUEUE_ADJUDICATE_FLAGS>): Promise<undefined> {
  return judge(call, ({ queues }, queueId, itemId, body) => queues.adjudicate(queueId, itemId, body));
}

type Send = (client: Client, queueId: string, itemId: string, body: AdjudicateRequest) => PromiseLike<QueueItemView>;

async function judge(
  { args, flags, json, config, io }: Call<typeof QUEUE_ADJUDICATE_FLAGS>,
  send: Send,
): Promise<undefined> {
  const client = connect(config);
  const [named = "", itemId = "", word = ""] = args;
  const { queueId, judgment } = await findQueue(client, named);
  const { note, correction } = flags;
  const item = await send(client, queueId, itemId, {
    value: judgmentValue(judgment, word),
    ...(note === undefined ? {} : { note }),
    ...(correction === undefined ? {} : { correction: textOf(correction) }),
  });
  io.out(json ? JSON.stringify(item) : showItem(item, { paint: io.paint, nowMs: Date.now() }));
}

function textOf(argument: string): string {
  return argument.startsWith("@") ? readText(argument.slice(1), "--correction") : argument;
}

function confidenceOf(text: string): number {
  const value = /^(0|1|[01]?\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw new AppError("unusable_input", { problem: `--confidence ${text} must be a number from 0 to 1` });
}
