import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type {
  BulkCancelResponse,
  CancelRunsRequest,
  CancelRunsResponse,
  DeleteRunResponse,
} from "../../protocol/runs/api.ts";
import { type Client, connect } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import { confirmed, type Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { EXIT, refusalOf } from "../program/exit-codes.ts";
import type { RUN_CANCEL_FLAGS, RUN_DELETE_FLAGS, RUN_PAUSE_FLAGS, RUN_RESUME_FLAGS } from "./commands.ts";

/** The most runs that one request may name. */
const AT_ONCE = 100;

export async function runCancel({ args, flags, json, config, io }: Call<typeof RUN_CANCEL_FLAGS>): Promise<number> {
  const client = connect(config);
  const reason = defined({ reason: flags.reason });
  const group = groupOf(args, flags);
  if (group !== undefined) {
    const { cancelled, failed } = await cancelGroup(client, { ...group, ...reason });
    if (json) io.out(JSON.stringify({ cancelled, failed }));
    else io.out(`${cancelled} cancelled${failed === 0 ? "" : `, ${failed} could not be cancelled`}`);
    return failed === 0 ? EXIT.fine : EXIT.invalid;
  }
  const [only = ""] = args;
  const results = args.length === 1 ? [await cancelOne(client, only, reason)] : await cancelMany(client, args, reason);
  if (json) io.out(JSON.stringify({ results }));
  for (const { runId, ok, status, error } of json ? [] : results) {
    if (ok) io.out(`${runId} ${status}`);
    else io.err(`error: ${runId}: ${printable(error?.message ?? "could not be cancelled")}`);
  }
  return results.every(({ ok }) => ok) ? EXIT.fine : EXIT.invalid;
}

type Group = Pick<CancelRunsRequest, "runId" | "workflowId">;

/** The runs of --workflow or --descendants; undefined where the command names each run. */
function groupOf(args: readonly string[], flags: FlagValues<typeof RUN_CANCEL_FLAGS>): Group | undefined {
  const { descendants, workflow } = flags;
  const [runId, ...others] = args;
  if (workflow !== undefined) {
    if (args.length > 0 || descendants) throw unusableInput("--workflow stands alone: name no run with it");
    return { workflowId: workflow };
  }
  if (runId === undefined) throw unusableInput("name a run, or a workflow with --workflow");
  if (!descendants) return undefined;
  if (others.length > 0) throw unusableInput("--descendants takes one run at a time");
  return { runId };
}

/** One request cancels a bounded number of runs: repeats it while runs are left and the last request cancelled some. */
async function cancelGroup(client: Client, body: CancelRunsRequest): Promise<CancelRunsResponse> {
  let cancelled = 0;
  for (;;) {
    const done = await client.runs.cancelAll(body);
    cancelled += done.cancelled;
    if (!done.more || done.cancelled === 0) return { ...done, cancelled };
  }
}

type Result = BulkCancelResponse["results"][number];

/** Cancels one run. A run that had ended in another way counts as not cancelled. */
async function cancelOne(client: Client, runId: string, reason: { reason?: string }): Promise<Result> {
  const { status } = await client.runs.cancel(runId, reason);
  if (status === "cancelled" || status === "cancelling") return { runId, ok: true, status };
  const message = `Run ${runId} is ${status} and cannot change any more.`;
  return { runId, ok: false, status, error: { code: "run_terminal", message } };
}

async function cancelMany(client: Client, runIds: readonly string[], reason: { reason?: string }): Promise<Result[]> {
  const results: Result[] = [];
  for (let i = 0; i < runIds.length; i += AT_ONCE) {
    const done = await client.runs.cancelMany({ runIds: runIds.slice(i, i + AT_ONCE), ...reason });
    results.push(...done.results);
  }
  return results;
}

export async function runPause(call: Call<typeof RUN_PAUSE_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const body = { reason: flags.reason, drainPolicy: flags.drain };
  const [runId = ""] = args;
  const paused = await connect(config).runs.pause(runId, body);
  if (json) io.out(JSON.stringify(paused));
  else io.out(paused.pausedAt === undefined ? `${runId} pauses when its current node ends` : `${runId} paused`);
  if (!json && io.outIsTerminal) io.err(`Let it go on with: assay run resume ${runId}`);
}

export async function runResume(call: Call<typeof RUN_RESUME_FLAGS>): Promise<undefined> {
  const { args, flags, json, config, io } = call;
  const [runId = ""] = args;
  const resumed = await connect(config).runs.resume(runId, { reason: flags.reason });
  io.out(json ? JSON.stringify(resumed) : `${runId} ${resumed.status}`);
}

export async function runDelete({ args, flags, json, config, io }: Call<typeof RUN_DELETE_FLAGS>): Promise<number> {
  if (!flags.yes && !(await isSure(io, args))) {
    io.err("assay: nothing was deleted.");
    return EXIT.invalid;
  }
  const client = connect(config);
  const results: Deletion[] = [];
  for (const runId of args) {
    const result = await deleteOne(client, runId);
    results.push(result);
    if (json) continue;
    if (result.error === undefined) io.out(printable(describe(result)));
    else io.err(`error: ${printable(`${runId}: ${result.error.message}`)}`);
  }
  if (json) io.out(JSON.stringify({ results }));
  return results.every(({ error }) => error === undefined) ? EXIT.fine : EXIT.invalid;
}

interface Deletion extends Partial<DeleteRunResponse> {
  readonly runId: string;
  readonly error?: ReturnType<typeof refusalOf>;
}

/** Deletes one run. A run that cannot be deleted is reported and the next one is tried; a refused key ends the command. */
async function deleteOne(client: Client, runId: string): Promise<Deletion> {
  try {
    return await client.runs.delete(runId);
  } catch (error) {
    return { runId, error: refusalOf(error) };
  }
}

async function isSure(io: Io, runIds: readonly string[]): Promise<boolean> {
  const what = runIds.length === 1 ? printable(runIds[0] ?? "") : formatCount(runIds.length, "run");
  const sure = await confirmed(io, `Delete ${what} for good, with everything about it?`);
  if (sure !== undefined) return sure;
  throw unusableInput("deletion cannot be confirmed without a terminal; confirm it with --yes");
}

function describe({ runId, deletedRuns = [], annotations = 0 }: Deletion): string {
  const others = deletedRuns.length - 1;
  const went = [
    ...(others > 0 ? [`${formatCount(others, "run")} below it`] : []),
    ...(annotations > 0 ? [formatCount(annotations, "judgment")] : []),
  ];
  return `${runId} deleted${went.length === 0 ? "" : `, with ${went.join(" and ")}`}`;
}
