import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import { connect } from "../client/client.ts";
import { readUpTo } from "../client/read-up-to.ts";
import { instantArgument } from "../files/arguments.ts";
import { formatAgo, formatDuration } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import { formatTable, paintStatus } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import type { RUN_LIST_FLAGS } from "./commands.ts";

const LIMIT = 20;

export async function runList({ flags, json, config, io }: Call<typeof RUN_LIST_FLAGS>): Promise<undefined> {
  const { limit = LIMIT } = flags;
  const filter = filterOf(flags, Date.now());
  const client = connect(config);
  const { items: runs, nextCursor } = await readUpTo(limit, async (page) => {
    const { runs, ...rest } = await client.runs.list({ ...filter, ...page });
    return { items: runs, ...rest };
  });
  if (json) {
    io.out(JSON.stringify({ runs, ...(nextCursor === undefined ? {} : { nextCursor }) }));
    return;
  }
  if (runs.length === 0) {
    const filtered = Object.values(filter).some((value) => value !== undefined);
    io.err(filtered ? "No runs match." : "No runs yet. Start one with: assay run start WORKFLOW");
    return;
  }
  const nowMs = Date.now();
  const rows = runs.map((run) => [
    run.runId,
    printable(run.workflowId),
    paintStatus(run.status, io.paint),
    formatAgo(run.startedAt, nowMs),
    took(run),
    printable((run.tags ?? []).join(",")),
  ]);
  io.out(formatTable(["RUN", "WORKFLOW", "STATUS", "STARTED", "TOOK", "TAGS"], rows, io.paint));
  if (nextCursor !== undefined && io.outIsTerminal) io.err(`There are more; show them with --limit ${limit * 5}.`);
}

/** The parameters of the API that the flags stand for. */
function filterOf(flags: Call<typeof RUN_LIST_FLAGS>["flags"], nowMs: number) {
  return {
    status: flags.status,
    workflowId: flags.workflow,
    agentId: flags.agent,
    tag: flags.tag,
    from: instantArgument("--since", flags.since, nowMs),
    to: instantArgument("--until", flags.until, nowMs),
  };
}

function took({ startedAt, completedAt }: RunSnapshot): string {
  return startedAt && completedAt ? formatDuration(Date.parse(completedAt) - Date.parse(startedAt)) : "";
}
