import { createInterface } from "node:readline";
import { defined } from "../../protocol/defined.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { QueueInfo, QueueItemView } from "../../protocol/queues/api.ts";
import type { Client } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import { askedFor, showItem } from "../output/describe-queue.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { showRun } from "../runs/show.ts";
import { judgmentValue, namedQueue } from "./queues.ts";

export async function queueWork(call: Call): Promise<undefined> {
  const { json, io } = call;
  const { client, queue } = await namedQueue(call);
  const input = createInterface({ input: process.stdin });
  try {
    // With --json standard output holds the total alone; the dialogue goes to standard error.
    const shown = json ? { ...io, out: io.err } : io;
    const judged = await workThrough(client, queue, shown, input[Symbol.asyncIterator]());
    io.out(json ? JSON.stringify({ judged }) : `${formatCount(judged, "item")} judged`);
  } finally {
    input.close();
  }
}

/** Offers items and takes typed lines as judgments until the queue is empty or the lines end. Returns how many items were judged. */
export async function workThrough(
  client: Client,
  queue: QueueInfo,
  io: Io,
  lines: AsyncIterator<string>,
): Promise<number> {
  let judged = 0;
  for (;;) {
    const { item } = await client.queues.next(queue.queueId);
    if (item === null) {
      io.out("There is nothing for you in this queue now.");
      return judged;
    }
    const run = await client.runs.get(item.runId);
    io.out(`${showItem(item, { paint: io.paint, nowMs: Date.now() })}\n\n${showRun(run, io, Date.now())}\n`);
    const done = await settle(client, queue, item, io, lines);
    if (done === "quit") return judged;
    if (done === "judged") judged += 1;
  }
}

/** Asks until the item is judged, skipped or given back. */
async function settle(
  client: Client,
  queue: QueueInfo,
  item: QueueItemView,
  io: Io,
  lines: AsyncIterator<string>,
): Promise<"judged" | "skipped" | "gone" | "quit"> {
  const { queueId } = queue;
  for (;;) {
    io.out(io.paint.bold(`${printable(asked(queue))}, with a note if you like; s REASON skips, q ends`));
    const { done, value: line = "" } = await lines.next();
    const [, word = "", rest = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
    try {
      if (done || word === "q") {
        await client.queues.release(queueId, item.itemId);
        return "quit";
      }
      if (word === "s") {
        if (rest === "") throw unusableInput("say why: s REASON");
        await client.queues.skip(queueId, item.itemId, { reason: rest });
        return "skipped";
      }
      const value = judgmentValue(queue.judgment, labelled(queue, word));
      const judgment = defined({ value, note: rest || undefined });
      const after = await client.queues.judge(queueId, item.itemId, judgment);
      io.out(io.paint.green(`Judged: ${printable(String(value))} (${after.state})\n`));
      return "judged";
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      io.err(error.message);
      if (GONE.includes(error.code)) return "gone";
      if (done || !TRY_AGAIN.includes(error.code)) throw error;
    }
  }
}

/** After these refusals the next item is asked for. */
const GONE: readonly string[] = ["queue_slot_taken", "queue_item_state", "queue_already_judged", "not_found"];
const TRY_AGAIN: readonly string[] = ["unusable_input", "validation_error"];

function asked({ judgment }: QueueInfo): string {
  if (judgment.kind !== "label") return askedFor(judgment);
  return judgment.labels.map((label, i) => `${i + 1} ${label}`).join(", ");
}

/** A label may be given by its number. */
function labelled({ judgment }: QueueInfo, word: string): string {
  if (judgment.kind !== "label" || judgment.labels.includes(word) || !/^\d+$/.test(word)) return word;
  return judgment.labels[Number(word) - 1] ?? word;
}
