import { type Recorder, visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { annotate } from "../../engine/judgments/annotate.ts";
import { identityOf } from "../../engine/runs/run-identity.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { JudgeTaskRequest } from "../../protocol/evals/eval-override.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Signal } from "../../protocol/judgments/annotation.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { evalPlanOf } from "../run/eval-plan.ts";
import { scoredEvents } from "./score-judgments.ts";

export interface JudgeTask {
  readonly caller: Caller;
  readonly runId: string;
  readonly taskId: string;
  readonly request: JudgeTaskRequest;
  readonly record: Recorder<AnnotationRecord>;
}

/** Judges the score of a task by its name: the same as annotating its `eval.scored` event. */
export async function judgeTask(host: Host, command: JudgeTask): Promise<AnnotationRecord> {
  const { caller, runId, taskId, request, record } = command;
  const signal = signalOf(request);
  const run = await visibleRun(host, caller, runId);
  if (evalPlanOf(run) === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  const scored = await scoredEvents(host.store, runId);
  const event = scored.find((one) => one.taskId === taskId);
  if (event === undefined) throw new AppError("not_found", { what: "scored task", taskId });
  const { note, supersedes } = request;
  const annotation = { target: { eventId: event.eventId }, signal, ...defined({ note, supersedes }) };
  return annotate(host, { caller, run: identityOf(run), request: annotation, record });
}

function signalOf({ label, rating, correction, flag }: JudgeTaskRequest): Signal {
  const signals: Signal[] = [
    ...(label === undefined ? [] : [{ kind: "label" as const, label }]),
    ...(rating === undefined ? [] : [{ kind: "rating" as const, rating }]),
    ...(correction === undefined ? [] : [{ kind: "correction" as const, correction }]),
    ...(flag === undefined ? [] : [{ kind: "flag" as const }]),
  ];
  const [signal] = signals;
  if (signal !== undefined && signals.length === 1) return signal;
  throw validationError("say exactly one of label, rating, correction and flag");
}
