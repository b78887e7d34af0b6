import type { UsableSuite } from "../../evals/suite/load-suite.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalReport } from "../../protocol/evals/api.ts";
import type { EvalEntry } from "../../protocol/evals/eval-baseline.ts";
import type { Client } from "../client/client.ts";
import { readableReport } from "./earlier-report.ts";

/** Where evaluations are carried out and kept: a server, or the database of this machine with this process at work in it. */
export interface EvalBackend {
  /** Asks that server, or the host in this process. */
  readonly client: Client;
  /** Keeps a suite from a file; what there is to know about it for the caller. */
  keepSuite(suite: UsableSuite): Promise<string | undefined>;
  /** What there is, where an agent was named that is not there. */
  agentIds(): Promise<readonly string[]>;
  /** Goes on with an evaluation that was interrupted, where nobody else would. */
  goOn(runId: string): Promise<void>;
  /**
   * Waits for the end. `onScored` is called with how many tasks have their score. When the signal is aborted everything that was started here
   * has ended before this rejects; the evaluation can go on, see `afterInterrupt`.
   */
  untilEnded(runId: string, onScored: ((scored: number) => void) | undefined, signal: AbortSignal): Promise<void>;
  /** What becomes of an evaluation whose wait is interrupted: it is left here to be resumed, a server goes on with it, or it is cancelled. */
  readonly afterInterrupt: "resumable" | "goes on" | "cancelled";
  /** Whether an evaluation that has not ended waits for `--resume`, since no process carries it out. False where that is not known. */
  isInterrupted(entry: EvalEntry): Promise<boolean>;
  close(): Promise<void>;
}

/** With what was said in the evaluation, for a key that may read it; figures only for others. */
export async function reportOf({ evals }: Client, runId: string): Promise<EvalReport> {
  try {
    return readableReport(await evals.report(runId, { content: "true" }));
  } catch (error) {
    if (!(error instanceof AppError && error.code === "forbidden")) throw error;
    return readableReport(await evals.report(runId));
  }
}

/** For an evaluation that nobody waits for any more. */
export async function cancelInterrupted({ runs }: Client, runId: string): Promise<void> {
  await runs.cancel(runId, { reason: "interrupted" });
}
