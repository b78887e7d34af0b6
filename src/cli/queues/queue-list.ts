import { connect } from "../client/client.ts";
import { takesIn } from "../output/describe-queue.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { askedFor } from "./queue-client.ts";

const TEXT_WIDTH = 50;

export async function queueList({ json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const queues = await client.queues.list({ limit: 200 }).all();
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
