import { addTo } from "../../formats/text/collections.ts";
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

interface Scored {
  readonly judgment: ScoreJudgment;
  readonly score: number;
}

export interface Override extends Scored {
  /** All scores of the task by people, newest first, in any state. */
  readonly history: readonly Scored[];
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
  const byTask = new Map<string, ScoreJudgment[]>();
  for (const judgment of people) if (!judgment.imported) addTo(byTask, judgment.taskId, judgment);
  for (const [taskId, judgments] of byTask) {
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
function scoreIn({ kind, label, rating }: Signal): number | undefined {
  if (kind === "rating") return rating === undefined ? undefined : (rating - 1) / 4;
  if (kind !== "label") return undefined;
  return label === "pass" ? 1 : label === "fail" ? 0 : undefined;
}

function isDispute({ state, signal, closed }: ScoreJudgment): boolean {
  return state === "live" && (signal.kind === "correction" || (signal.kind === "flag" && !closed));
}

/** Newest first; ids of one moment sort in the order they were made. */
function byAge(a: ScoreJudgment, b: ScoreJudgment): number {
  return b.atMs - a.atMs || (a.annotationId < b.annotationId ? 1 : -1);
}

/** Principals whose scores make the figures of an evaluation worse and never better. */
export interface Doubted {
  /** Principals who request a decision that the evaluation supports. */
  readonly interested: readonly string[];
  /** Principals in whose name another one has a key: any of their judgments, and any withdrawal of one, may be the other's. */
  readonly unconfirmed: readonly string[];
}

/**
 * The judgments that give each task the lowest of three scores: the score of the evaluation or, in its place, the last judgment of
 * a principal that is not doubted; and later judgments of doubted principals. So a doubted principal neither raises a score nor
 * hides a low one, whether by judging over it, by withdrawing it, or by having another doubted principal do so.
 */
export function judgmentsInDoubt(
  judgments: readonly ScoreJudgment[],
  doubted: Doubted,
  given: ReadonlyMap<string, number>,
): ScoreJudgment[] {
  const counts = countsWith(doubted);
  const byTask = new Map<string, Scored[]>();
  for (const judgment of judgments) {
    const score = scoreIn(judgment.signal);
    if (score !== undefined && counts(judgment)) addTo(byTask, judgment.taskId, { judgment, score });
  }
  const others = judgments.filter(({ signal }) => scoreIn(signal) === undefined);
  const lowest = [...byTask].flatMap(([taskId, judgments]) => lowestOf(judgments, doubted, given.get(taskId) ?? 0));
  return [...others, ...lowest.map(({ judgment }) => ({ ...judgment, state: "live" as const }))];
}

/**
 * Live judgments, those that a doubted principal withdrew of another, and all judgments under a name that two principals can use.
 */
function countsWith({ interested, unconfirmed }: Doubted): (judgment: ScoreJudgment) => boolean {
  const doubted = new Set([...interested, ...unconfirmed]);
  const shared = new Set(unconfirmed);
  return ({ actorKind, imported, state, by, retractedBy = by }) =>
    actorKind === "person" &&
    !imported &&
    (state === "live" || shared.has(by) || (retractedBy !== by && doubted.has(retractedBy)));
}

function lowestOf(judgments: readonly Scored[], { interested, unconfirmed }: Doubted, given: number): Scored[] {
  const doubted = new Set([...interested, ...unconfirmed]);
  const shared = new Set(unconfirmed);
  const ordered = judgments.toSorted(byRank);
  const at = ordered.findIndex(({ judgment }) => !doubted.has(judgment.by));
  const trusted = ordered[at];
  const heard = new Set<string>();
  const above = (at < 0 ? ordered : ordered.slice(0, at)).filter(({ judgment: { by } }) => {
    const isLast = !heard.has(by);
    heard.add(by);
    return isLast || shared.has(by);
  });
  const [lowest] = above.toSorted((a, b) => a.score - b.score);
  if (lowest !== undefined && lowest.score < (trusted?.score ?? given)) return [lowest];
  return trusted === undefined ? [] : [trusted];
}

/** The order of overrides: adjudicated scores before all others, then the newest. */
function byRank({ judgment: a }: Scored, { judgment: b }: Scored): number {
  return Number(b.adjudicated) - Number(a.adjudicated) || byAge(a, b);
}
