import type { Host } from "../../engine/host.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { AgentEvalSuite, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { Proof } from "../../protocol/evals/suite-api.ts";
import { FIRST_VERSION, type Grown, growSuite, newSuite, nextVersion, type TaskDraft } from "./grow-suite.ts";
import { proveConfirmed, proveTask } from "./prove-task.ts";
import type { LeftOutStep, TapeTask, TapeTasks } from "./tape-tasks.ts";

type Needs = Pick<Host, "scrubber" | "nowMs" | "newId">;

export interface AddedStep {
  readonly task: EvalTask;
  readonly eventId: bigint;
  readonly row: string;
  readonly recorded: Proof;
  /** The proof of the correction by a person; absent where the recorded answer is right. */
  readonly correction?: Proof;
}

export interface GrownFromTape {
  /** The next version of the suite, with all tasks. */
  readonly suite: AgentEvalSuite;
  readonly added: readonly AddedStep[];
  readonly leftOut: readonly LeftOutStep[];
  readonly notes: readonly string[];
}

/**
 * Grows the suite by a task for each step that a person confirmed or corrected. Tasks that cannot be shown to tell right from
 * wrong are left out.
 */
export async function growFromTape(
  host: Needs,
  target: AgentEvalSuite | { readonly newSuiteId: string },
  judged: TapeTasks,
  /** Unique among tapes, so that tasks of several fit into one suite. */
  prefix: string,
): Promise<GrownFromTape> {
  const leftOut = [...judged.leftOut];
  const added: AddedStep[] = [];
  const notes = new Set<string>();
  let suite = "newSuiteId" in target ? undefined : target;
  for (const step of judged.tasks) {
    try {
      const { draft, proof } = await proven(host, step, prefix);
      const grown: Grown =
        suite === undefined
          ? newSuite((target as { newSuiteId: string }).newSuiteId, draft, {})
          : growSuite(suite, draft);
      for (const note of [...step.notes, ...grown.notes]) notes.add(note);
      added.push({ task: grown.task, eventId: step.eventId, row: step.row, ...proof });
      suite = grown.suite;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      leftOut.push({ eventId: step.eventId, reason: String(error.details["problem"]) });
    }
  }
  if (suite === undefined || added.length === 0) throw nothing(leftOut);
  return {
    suite: { ...suite, version: "newSuiteId" in target ? FIRST_VERSION : nextVersion([target.version]) },
    added,
    leftOut: leftOut.sort((a, b) => (a.eventId < b.eventId ? -1 : 1)),
    notes: [...notes],
  };
}

async function proven({ scrubber, ...host }: Needs, step: TapeTask, prefix: string) {
  const { expected, corrects } = step;
  const rest: Omit<EvalTask, "taskId"> = scrubber.scrubValue({
    input: step.input,
    expected: { kind: "golden" as const, match: expected.match },
  });
  const task = { taskId: "proof", ...rest };
  const output = scrubber.scrubText(step.output);
  const answer = scrubber.scrubValue(expected.answer);
  const proof = corrects
    ? await proveTask({ ...host, scrubber }, task, { outputs: [output], answer })
    : { recorded: await proveConfirmed({ ...host, scrubber }, task, output) };
  const draft: TaskDraft = { ...rest, name: `${prefix}-${step.name}`, answer };
  return { draft, proof };
}

function nothing(leftOut: readonly LeftOutStep[]): AppError {
  const reasons = [...new Set(leftOut.map(({ reason }) => reason))].slice(0, 5).join("; ");
  const why = leftOut.length === 0 ? "no row says correct, incorrect or alternative" : reasons;
  return validationError(`no task can be made of the tape: ${why}`);
}
