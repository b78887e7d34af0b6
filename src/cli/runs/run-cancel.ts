import { AppError } from "../../protocol/errors.ts";
import type { BulkCancelResponse } from "../../protocol/runs/api.ts";
import type { CancelRunsRequest, CancelRunsResponse } from "../../protocol/runs/cancel-operations.ts";
import { type Client, connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { RUN_CANCEL_FLAGS } from "./commands.ts";

/** What one bulk request takes. */
const AT_ONCE = 100;

export async function runCancel({ args, flags, json, config, io }: Call<typeof RUN_CANCEL_FLAGS>): Promise<number> {
  const client = connect(config);
  const reason = flags.reason === undefined ? {} : { reason: flags.reason };
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

/** Undefined where the command names runs one by one. */
function groupOf(
  args: readonly string[],
  { descendants, workflow }: { readonly descendants?: boolean | undefined; readonly workflow?: string | undefined },
): Group | undefined {
  const refuse = (problem: string): never => {
    throw new AppError("unusable_input", { problem });
  };
  const [runId, ...others] = args;
  if (workflow !== undefined) {
    return args.length > 0 || descendants
      ? refuse("--workflow stands alone: name no run with it")
      : { workflowId: workflow };
  }
  if (runId === undefined) return refuse("name a run, or a workflow with --workflow");
  if (!descendants) return undefined;
  return others.length > 0 ? refuse("--descendants takes one run at a time") : { runId };
}

/** Repeated while runs are left, as one request cancels a bounded number; ends when a request achieves nothing. */
async function cancelGroup(client: Client, body: CancelRunsRequest): Promise<CancelRunsResponse> {
  let cancelled = 0;
  for (;;) {
    const done = await client.runs.cancelAll(body);
    cancelled += done.cancelled;
    if (!done.more || done.cancelled === 0) return { ...done, cancelled };
  }
}

type Result = BulkCancelResponse["results"][number];

/** A run that had already ended otherwise is told apart: it was not cancelled. */
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
