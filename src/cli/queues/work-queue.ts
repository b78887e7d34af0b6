import { AppError } from "../../protocol/errors.ts";
import type { QueueInfo, QueueItemView } from "../../protocol/queues/api.ts";
import type { Client } from "../client/client.ts";
import { showItem } from "../output/describe-queue.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { showRun } from "../runs/run-show.ts";
import { askedFor, judgmentValue } from "./queue-client.ts";

/** How many items were judged by whoever typed the lines. */
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
  const { queueId, judgment } = queue;
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
        if (rest === "") throw new AppError("unusable_input", { problem: "say why: s REASON" });
        await client.queues.skip(queueId, item.itemId, { reason: rest });
        return "skipped";
      }
      const value = judgmentValue(judgment, labelled(queue, word));
      const after = await client.queues.judge(queueId, item.itemId, { value, ...(rest === "" ? {} : { note: rest }) });
      io.out(io.paint.green(`Judged: ${printable(String(value))} (${after.state})\n`));
      return "judged";
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      io.err(error.message);
      if (GONE.includes(error.code)) return "gone";
      if (done || !RECOVERABLE.includes(error.code)) throw error;
    }
  }
}

/** After these there is another item to ask for. */
const GONE: readonly string[] = ["queue_slot_taken", "queue_item_state", "queue_already_judged", "not_found"];
const RECOVERABLE: readonly string[] = ["unusable_input", "validation_error"];

function asked({ judgment }: QueueInfo): string {
  if (judgment.kind !== "label") return askedFor(judgment);
  return judgment.labels.map((label, i) => `${i + 1} ${label}`).join(", ");
}

/** A label may be given by its number. */
function labelled({ judgment }: QueueInfo, word: string): string {
  if (judgment.kind !== "label" || judgment.labels.includes(word) || !/^\d+$/.test(word)) return word;
  return judgment.labels[Number(word) - 1] ?? word;
}
