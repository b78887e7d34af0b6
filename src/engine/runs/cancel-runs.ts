import { setImmediate as yieldToOthers } from "node:timers/promises";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type {
  BulkCancelRequest,
  BulkCancelResponse,
  CancelRunRequest,
  CancelRunsRequest,
  CancelRunsResponse,
} from "../../protocol/runs/api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal, RUN_STATUSES } from "../../protocol/runs/run-status.ts";
import { auditDraft, refused, visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { withReadRoom } from "../worker/run-room.ts";
import { cancelRun } from "./change-run.ts";

/** Runs cancelled at the same time: enough to share commits, few enough to let other requests in between. */
const PAGE = 64;

/** Only the heads of larger runs are listed: a page of whole runs may be more than the host can hold. */
const LISTED_BYTES = 65_536;

/** Runs that one request cancels at most. */
const MOST = 5000;

/** Statuses in which a run can still be cancelled. */
const CANCELLABLE = RUN_STATUSES.filter((status) => !isTerminal(status) && status !== "cancelling");

/** Cancels a root run with all of its descendants, or every run of a workflow, in bounded pages. */
export async function cancelRuns(host: Host, caller: Caller, request: CancelRunsRequest): Promise<CancelRunsResponse> {
  const { runId, workflowId, reason } = request;
  if ((runId === undefined) === (workflowId === undefined)) {
    throw validationError("the body needs exactly one of runId and workflowId");
  }
  const work = new Cancelling(host, caller, defined({ reason }));
  if (runId !== undefined) await cancelFamily(host, caller, runId, work);
  else await cancelWorkflow(host, caller, workflowId ?? "", work);
  const { cancelled, failed } = work;
  return { cancelled, failed, more: work.isFull || failed > 0 };
}

/** The family is closed first, in a commit that conflicts with every creation below the root, so the pages that follow are complete. */
async function cancelFamily(host: Host, caller: Caller, rootRunId: string, work: Cancelling): Promise<void> {
  const root = await visibleRun(host, caller, rootRunId);
  if (root.parent !== undefined) {
    const problem = `run ${rootRunId} is below run ${root.parent.rootRunId}: name that one, or cancel this one by itself`;
    throw validationError(problem, { rootRunId: root.parent.rootRunId });
  }
  const atMs = host.nowMs();
  const closed = await host.store.commit({
    tenant: caller.tenant,
    cancelledFamilies: [{ rootRunId, atMs }],
    audit: [auditDraft(caller, atMs, rootRunId, { action: "run.family_cancelled", details: {} })],
  });
  if (!closed.ok) throw refused(closed.refusal);
  await work.cancel([root]);
  for (let after = ""; !work.isFull; ) {
    const page = await host.store.activeDescendants(caller, {
      rootRunId,
      after,
      limit: PAGE,
      statesUpTo: LISTED_BYTES,
    });
    await work.cancel(page);
    if (page.length < PAGE) return;
    after = page.at(-1)?.runId ?? "";
  }
}

async function cancelWorkflow(host: Host, caller: Caller, workflowId: string, work: Cancelling): Promise<void> {
  for (const status of CANCELLABLE) {
    let before: string | undefined;
    while (!work.isFull) {
      const query = defined({ workflowId, status, limit: PAGE, statesUpTo: LISTED_BYTES, before });
      const page = await host.store.listRuns(caller, query);
      await work.cancel(page);
      if (page.length < PAGE) break;
      before = page.at(-1)?.runId;
    }
  }
}

class Cancelling {
  cancelled = 0;
  failed = 0;
  readonly #host: Host;
  readonly #caller: Caller;
  readonly #reason: { readonly reason?: string };

  constructor(host: Host, caller: Caller, reason: { readonly reason?: string }) {
    this.#host = host;
    this.#caller = caller;
    this.#reason = reason;
  }

  get isFull(): boolean {
    return this.cancelled + this.failed >= MOST;
  }

  /** Parents before their children: a child that is cancelled by itself may fail its parent. */
  async cancel(runs: readonly Run[]): Promise<void> {
    const active = runs.filter(({ status }) => !isTerminal(status) && status !== "cancelling");
    const depths = new Set(active.map(depthOf));
    for (const depth of [...depths].sort((a, b) => a - b)) {
      await Promise.all(active.filter((run) => depthOf(run) === depth).map((run) => this.#cancelOne(run)));
    }
    await yieldToOthers();
  }

  async #cancelOne({ runId }: Run): Promise<void> {
    try {
      await cancelInOwnRoom(this.#host, this.#caller, runId, this.#reason);
      this.cancelled += 1;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // A run that was deleted meanwhile needs no end.
      if (error.code !== "not_found") this.failed += 1;
    }
  }
}

function depthOf({ parent }: Run): number {
  return parent?.depth ?? 0;
}

/**
 * Cancels one of many runs. Its room for large reads is released when it is done: that of a request is kept until its answer is sent, and a
 * request about many large runs would wait for itself.
 */
function cancelInOwnRoom(host: Host, caller: Caller, runId: string, request: CancelRunRequest) {
  return withReadRoom(host, (room) =>
    cancelRun(host, { caller: { ...caller, ...room }, runId, request, record: () => undefined }),
  );
}

const MANY_AT_ONCE = 16;

/**
 * One result per id, in order; one that fails does not stop the others. Runs that completed or failed are refused. Parents come before their
 * children: a child that is cancelled by itself may fail its parent.
 */
export async function bulkCancelRuns(
  host: Host,
  caller: Caller,
  { runIds, reason }: BulkCancelRequest,
): Promise<BulkCancelResponse> {
  const cancelOne = async (runId: string) => {
    try {
      const { status } = await cancelInOwnRoom(host, caller, runId, defined({ reason }));
      if (status === "completed" || status === "failed") {
        throw new AppError("run_terminal", { runId, runStatus: status });
      }
      return { runId, ok: true, status };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message } = error;
      // Scrubbed like any other error: a text that is no id of a run may be a secret, and answers are kept under an idempotency key.
      return host.scrubber.scrubValue({ runId, ok: false, error: { code, message } });
    }
  };
  const read = (runId: string) => withReadRoom(host, (room) => host.store.readRun({ ...caller, ...room }, runId));
  const depths = await Promise.all(runIds.map(async (runId) => (await read(runId))?.parent?.depth ?? 0));
  const results = new Array<BulkCancelResponse["results"][number]>(runIds.length);
  for (const depth of [...new Set(depths)].sort((a, b) => a - b)) {
    const level = [...runIds.entries()].filter(([i]) => depths[i] === depth);
    for (let from = 0; from < level.length; from += MANY_AT_ONCE) {
      const some = level.slice(from, from + MANY_AT_ONCE);
      await Promise.all(
        some.map(async ([i, runId]) => {
          results[i] = await cancelOne(runId);
        }),
      );
    }
  }
  return { results };
}
