import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import { type Client, connect } from "../client/client.ts";
import { instantArgument } from "../files/instant-argument.ts";
import { printable } from "../output/printable.ts";
import { paintStatus } from "../output/status.ts";
import { formatTable } from "../output/table.ts";
import { formatAgo, formatDuration } from "../output/when.ts";
import type { Call } from "../program/command.ts";
import type { RUN_LIST_FLAGS } from "./commands.ts";

const LIMIT = 20;
const PAGE_MAX = 200;

export async function runList({ flags, json, config, io }: Call<typeof RUN_LIST_FLAGS>): Promise<undefined> {
  const { limit = LIMIT } = flags;
  const filter = filterOf(flags, Date.now());
  const { runs, nextCursor } = await readRuns(connect(config), limit, filter);
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

type Filter = Readonly<Record<string, string | undefined>>;

/** The parameters of the API that the flags stand for. */
function filterOf(flags: Call<typeof RUN_LIST_FLAGS>["flags"], nowMs: number): Filter {
  return {
    status: flags.status,
    workflowId: flags.workflow,
    agentId: flags.agent,
    tag: flags.tag,
    from: instantArgument("--since", flags.since, nowMs),
    to: instantArgument("--until", flags.until, nowMs),
  };
}

interface Page {
  readonly runs: readonly RunSnapshot[];
  readonly nextCursor?: string;
}

/** A page of the server may be short: by some filters it looks at a bounded number of runs per request. */
async function readRuns(client: Client, limit: number, filter: Filter): Promise<Page> {
  const runs: RunSnapshot[] = [];
  let cursor: string | undefined;
  do {
    const query = { ...filter, cursor, limit: Math.min(limit - runs.length, PAGE_MAX) };
    const page: Page = await client.json("/v1/runs", { query });
    runs.push(...page.runs);
    cursor = page.nextCursor;
  } while (cursor !== undefined && runs.length < limit);
  return cursor === undefined ? { runs } : { runs, nextCursor: cursor };
}

function took({ startedAt, completedAt }: RunSnapshot): string {
  return startedAt && completedAt ? formatDuration(Date.parse(completedAt) - Date.parse(startedAt)) : "";
}
