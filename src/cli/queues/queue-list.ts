import type { QueueInfo, QueuePage } from "../../protocol/queues/api.ts";
import { connect } from "../client/client.ts";
import { takesIn } from "../output/describe-queue.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { askedFor, QUEUES } from "./queue-client.ts";

const TEXT_WIDTH = 50;

export async function queueList({ json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const queues: QueueInfo[] = [];
  let cursor: string | undefined;
  do {
    const page: QueuePage = await client.json(QUEUES, { query: { cursor, limit: 200 } });
    queues.push(...page.queues);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  if (json) io.out(JSON.stringify({ queues }));
  else if (queues.length === 0) io.err("No review queues yet. Make one with: assay queue create NAME --workflow ID");
  else {
    const rows = queues.map((queue) => [
      printable(queue.name),
      queue.state === "open" ? io.paint.green("open") : io.paint.yellow("closed"),
      String(queue.reviewersRequired),
      shorten(printable(askedFor(queue.judgment)), TEXT_WIDTH),
      shorten(takesIn(queue.query), TEXT_WIDTH),
      queue.queueId,
    ]);
    io.out(formatTable(["NAME", "STATE", "REVIEWERS", "ASKS FOR", "TAKES IN", "QUEUE"], rows, io.paint));
  }
}
