import { AppError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type { JudgmentValue, QueueInfo, QueueJudgment } from "../../protocol/queues/api.ts";
import type { Client } from "../client/client.ts";

/** The queue with this id or name. */
export async function findQueue(client: Client, named: string): Promise<QueueInfo> {
  if (named.startsWith("que-") && isId(named)) return client.queues.get(named);
  for await (const queue of client.queues.list({ limit: 200 })) if (queue.name === named) return queue;
  throw new AppError("not_found", { what: `review queue called ${named}` });
}

const YES = ["yes", "y", "true"];
const NO = ["no", "n", "false"];

/** What a word means to the queue. Whether it is one of its labels, the server says. */
export function judgmentValue({ kind }: QueueJudgment, word: string): JudgmentValue {
  if (kind === "label") return word;
  if (kind === "rating") {
    if (/^[1-5]$/.test(word)) return Number(word);
    throw new AppError("unusable_input", { problem: `this queue asks for a rating from 1 to 5, not ${word}` });
  }
  if (YES.includes(word)) return true;
  if (NO.includes(word)) return false;
  throw new AppError("unusable_input", { problem: `this queue asks for yes (flag it) or no, not ${word}` });
}

/** What a reviewer is asked for, in a few words. */
export function askedFor(judgment: QueueJudgment): string {
  if (judgment.kind === "rating") return "a rating from 1 to 5";
  return judgment.kind === "flag" ? "yes (flag it) or no" : `one of ${judgment.labels.join(", ")}`;
}
