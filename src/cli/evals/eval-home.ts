import type { UsableSuite } from "../../evals/suite/load-suite.ts";
import type { EvalConfigurable, EvalReport } from "../../protocol/evals/api.ts";
import type { BaselineFile } from "../../protocol/evals/baseline-file.ts";
import type {
  BaselinePage,
  EvalBaseline,
  EvalEntry,
  EvalListQuery,
  EvalPage,
  SetBaselineRequest,
} from "../../protocol/evals/eval-baseline.ts";
import type { JudgeTaskRequest } from "../../protocol/evals/eval-override.ts";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import type { EvalTaskBodies } from "../../protocol/evals/eval-task-bodies.ts";
import type { SuiteInfo } from "../../protocol/evals/suite-api.ts";
import type { AddedTask, AddFromRequest, TaskLinkPage, TaskLinkQuery } from "../../protocol/evals/suite-growth.ts";
import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import type { JudgeHome } from "../judges/judge-home.ts";

export interface EvalRequest {
  readonly evalSuiteRef: string;
  readonly agentId: string;
  readonly configurable: EvalConfigurable;
}

/** Where evaluations are carried out and kept: a server, or the database of this machine with this process at work in it. */
export interface EvalHome {
  /** Keeps a suite from a file; what there is to know about it for whoever started this. */
  keepSuite(suite: UsableSuite): Promise<string | undefined>;
  /** A suite that is kept there; throws `not_found`. */
  suite(ref: string): Promise<AgentEvalSuite>;
  /** What there is, for whoever named something that is not there. */
  suites(): Promise<readonly SuiteInfo[]>;
  agentIds(): Promise<readonly string[]>;
  /** Gives the id of the run. */
  start(request: EvalRequest): Promise<string>;
  /** Goes on with one that was interrupted, where nobody else would. */
  goOn(runId: string): Promise<void>;
  /**
   * Waits for the end. `told` hears how many tasks have their score, when somebody is looking. When the signal is aborted everything
   * that was started here has ended before this rejects; the evaluation can go on, see `afterInterrupt`.
   */
  untilEnded(runId: string, told: ((scored: number) => void) | undefined, signal: AbortSignal): Promise<void>;
  cancel(runId: string): Promise<void>;
  /** What becomes of an evaluation whose wait is interrupted: it is left here to be resumed, a server goes on with it, or it is cancelled. */
  readonly afterInterrupt: "resumable" | "goes on" | "cancelled";
  /** Whether an evaluation that has not ended waits for `--resume`, since no process carries it out. False where that is not known. */
  isInterrupted(entry: EvalEntry): Promise<boolean>;
  entry(runId: string): Promise<EvalEntry>;
  /** With what was said in it, where the key may read that; of one that was stopped, what was done. Throws `run_state_conflict` where it has not ended. */
  report(runId: string): Promise<EvalReport>;
  /** Input, outputs, reasoning and tool calls of one task; throws `not_found` with the word `task` where it has none of this id. */
  task(runId: string, taskId: string): Promise<EvalTaskBodies>;
  list(query: EvalListQuery): Promise<EvalPage>;
  baseline(suiteId: string, name: string): Promise<EvalBaseline>;
  baselines(cursor: string | undefined): Promise<BaselinePage>;
  setBaseline(suiteId: string, name: string, named: SetBaselineRequest): Promise<EvalBaseline>;
  /** As a file; throws `not_found`, also where what was kept of it is gone. */
  exportBaseline(suiteId: string, name: string): Promise<BaselineFile>;
  /** So that it can be compared with by its digest, or be given a name. */
  keepBaselineFile(file: BaselineFile): Promise<void>;
  removeBaseline(suiteId: string, name: string): Promise<void>;
  /** Says something about the score of a task. */
  judgeTask(runId: string, taskId: string, request: JudgeTaskRequest): Promise<AnnotationView>;
  /** Makes a task of a corrected run. */
  addFrom(request: AddFromRequest): Promise<AddedTask>;
  taskLinks(query: TaskLinkQuery): Promise<TaskLinkPage>;
  /** The judge there, and what it is certified for. */
  readonly judge: JudgeHome;
  close(): Promise<void>;
}
