import { byAge, type ScoreJudgment, scoreIn } from "./fold-overrides.ts";

/** Principals whose scores make the figures of an evaluation worse and never better. */
export interface Doubted {
  /** Principals who request a decision that the evaluation supports. */
  readonly interested: readonly string[];
  /** Principals in whose name another one has a key: any of their judgments, and any withdrawal of one, may be the other's. */
  readonly unconfirmed: readonly string[];
}

interface Scored {
  readonly judgment: ScoreJudgment;
  readonly score: number;
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
    if (score === undefined || !counts(judgment)) continue;
    const others = byTask.get(judgment.taskId);
    if (others) others.push({ judgment, score });
    else byTask.set(judgment.taskId, [{ judgment, score }]);
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
