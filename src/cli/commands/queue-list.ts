import type { QueueInfo, QueuePage } from "../../protocol/queue-api.ts";
import { connect } from "../client.ts";
import type { Call } from "../command.ts";
import { takesIn } from "../describe-queue.ts";
import { printable, shorten } from "../printable.ts";
import { askedFor, QUEUES } from "../queue-client.ts";
import { formatTable } from "../table.ts";

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
