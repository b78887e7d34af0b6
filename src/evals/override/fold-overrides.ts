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
  /** Who withdrew it: its author, or an admin. */
  readonly retractedBy?: string;
  readonly signal: Signal;
  /** Of a flag that was looked into. */
  readonly closed: boolean;
  /** It settled what the reviewers of a queue disagreed on. */
  readonly adjudicated: boolean;
  /** It came in a file: its author is a claim of the importer, so it is shown and counts for nothing. */
  readonly imported: boolean;
}

export interface Override {
  readonly judgment: ScoreJudgment;
  readonly score: number;
  /** All that people gave it a score with, newest first, whatever became of it. */
  readonly history: readonly { readonly judgment: ScoreJudgment; readonly score: number }[];
}

export interface FoldedOverrides {
  readonly overrides: ReadonlyMap<string, Override>;
  /** Judgments that call a task wrong without giving a score; newest first. */
  readonly disputes: ReadonlyMap<string, readonly ScoreJudgment[]>;
  /** How many live judgments of people were left out because they were imported. */
  readonly imported: number;
}

/**
 * Which scores people put in place of those of an evaluation. Only judgments of people count that were made here and
 * still stand; an adjudicated score before all others, then the newest. The order in which the judgments come does not matter.
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

/** The score that a signal stands for; undefined for one that gives none. */
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
