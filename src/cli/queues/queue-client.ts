import { AppError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type { JudgmentValue, QueueInfo, QueueJudgment, QueuePage } from "../../protocol/queues/api.ts";
import type { Client } from "../client/client.ts";

export const QUEUES = "/v1/host/assay/queues";

/** The queue with this id or name. */
export async function findQueue(client: Client, named: string): Promise<QueueInfo> {
  if (named.startsWith("que-") && isId(named)) return client.json(queuePath(named));
  let cursor: string | undefined;
  do {
    const page: QueuePage = await client.json(QUEUES, { query: { cursor, limit: 200 } });
    const found = page.queues.find(({ name }) => name === named);
    if (found !== undefined) return found;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  throw new AppError("not_found", { what: `review queue called ${named}` });
}

export function queuePath(queueId: string, rest = ""): string {
  return `${QUEUES}/${encodeURIComponent(queueId)}${rest}`;
}

export function itemPath(queueId: string, itemId: string, verb: string): string {
  return queuePath(queueId, `/items/${encodeURIComponent(itemId)}:${verb}`);
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
