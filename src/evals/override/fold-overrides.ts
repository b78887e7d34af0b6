import type { ActorKind, AnnotationState, Signal } from "../../protocol/judgments/annotation.ts";

/** A judgment about the score of a task. */
export interface ScoreJudgment {
  readonly taskId: string;
  /** The `eval.scored` event that it is about. */
  readonly eventId: string;
  readonly annotationId: string;
  readonly by: string;
  readonly actorKind: ActorKind;
  readonly atMs: number;
  readonly state: AnnotationState;
  /** The principal who withdrew it: its author, or an admin. */
  readonly retractedBy?: string;
  readonly signal: Signal;
  /** Whether a flag was closed. */
  readonly closed: boolean;
  /** Whether it settled a disagreement of the reviewers of a queue. */
  readonly adjudicated: boolean;
  /** Whether it was imported: its author is a claim of the importer, so it is shown and does not count. */
  readonly imported: boolean;
}

export interface Override {
  readonly judgment: ScoreJudgment;
  readonly score: number;
  /** All scores of the task by people, newest first, in any state. */
  readonly history: readonly { readonly judgment: ScoreJudgment; readonly score: number }[];
}

export interface FoldedOverrides {
  readonly overrides: ReadonlyMap<string, Override>;
  /** Judgments that call a task wrong without giving a score; newest first. */
  readonly disputes: ReadonlyMap<string, readonly ScoreJudgment[]>;
  /** The number of live judgments of people that do not count because they were imported. */
  readonly imported: number;
}

/**
 * Folds judgments into the scores that replace those of an evaluation. Only live judgments of people count that were made on this
 * host; an adjudicated score before all others, then the newest. The order of the input does not matter.
 */
export function foldOverrides(judgments: readonly ScoreJudgment[]): FoldedOverrides {
  const overrides = new Map<string, Override>();
  const disputes = new Map<string, readonly ScoreJudgment[]>();
  const people = judgments.filter(({ actorKind }) => actorKind === "person");
  for (const [taskId, judgments] of byTask(people.filter(({ imported }) => !imported))) {
    const newestFirst = [...judgments].sort(byAge);
    const history = newestFirst.flatMap((judgment) => {
      const score = scoreIn(judgment.signal);
      return score === undefined ? [] : [{ judgment, score }];
    });
    const current = history.filter(({ judgment }) => judgment.state === "live");
    const chosen = current.find(({ judgment }) => judgment.adjudicated) ?? current[0];
    if (chosen !== undefined) overrides.set(taskId, { ...chosen, history });
    const disputing = newestFirst.filter(isDispute);
    if (disputing.length > 0) disputes.set(taskId, disputing);
  }
  return { overrides, disputes, imported: people.filter(({ imported, state }) => imported && state === "live").length };
}

/** The score of a signal; undefined for one without a score. */
export function scoreIn({ kind, label, rating }: Signal): number | undefined {
  if (kind === "rating") return rating === undefined ? undefined : (rating - 1) / 4;
  if (kind !== "label") return undefined;
  return label === "pass" ? 1 : label === "fail" ? 0 : undefined;
}

function isDispute({ state, signal, closed }: ScoreJudgment): boolean {
  return state === "live" && (signal.kind === "correction" || (signal.kind === "flag" && !closed));
}

function byTask(judgments: readonly ScoreJudgment[]): Map<string, ScoreJudgment[]> {
  const tasks = new Map<string, ScoreJudgment[]>();
  for (const judgment of judgments) {
    const others = tasks.get(judgment.taskId);
    if (others) others.push(judgment);
    else tasks.set(judgment.taskId, [judgment]);
  }
  return tasks;
}

/** Newest first; ids of one moment sort in the order they were made. */
export function byAge(a: ScoreJudgment, b: ScoreJudgment): number {
  return b.atMs - a.atMs || (a.annotationId < b.annotationId ? 1 : -1);
}
