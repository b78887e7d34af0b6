import type { ActorKind } from "../../../protocol/judgments/annotation.ts";
import type { AgreementFigures } from "../../../protocol/queues/agreement-api.ts";
import type { JudgmentValue, QueueRules } from "../../../protocol/queues/api.ts";
import {
  cohenKappa,
  countEach,
  type Figure,
  fleissKappa,
  krippendorffAlpha,
  undefinedFor,
} from "../../../statistics/agreement.ts";

export interface Vote {
  readonly reviewer: string;
  readonly kind: ActorKind;
  readonly value: JudgmentValue;
}

/** The pairs with most items in common are listed. */
const PAIRS_MAX = 200;

/** `items` are the judgments on each item that count. */
export function agreementOf(
  kind: QueueRules["judgment"]["kind"],
  items: readonly (readonly Vote[])[],
): AgreementFigures {
  const units = items.filter((votes) => votes.length > 1).map((votes) => votes.map(({ value }) => value));
  const votes = items.flat();
  const pairs = pairsOf(items);
  return {
    items: units.length,
    judgments: votes.length,
    agreed: units.filter((unit) => new Set(unit).size === 1).length,
    reviewers: reviewersOf(votes),
    cohen: pairs
      .slice(0, PAIRS_MAX)
      .map(([reviewers, values]) => ({ reviewers: [...reviewers], ...cohenKappa(values) })),
    morePairs: Math.max(0, pairs.length - PAIRS_MAX),
    fleiss: fleissKappa(units),
    krippendorff: krippendorffAlpha(units, kind === "rating" ? "ordinal" : "nominal"),
    byValue: byValue(units),
  };
}

function reviewersOf(votes: readonly Vote[]): AgreementFigures["reviewers"] {
  const kinds = new Map(votes.map(({ reviewer, kind }) => [reviewer, kind]));
  const counts = countEach(votes.map(({ reviewer }) => reviewer));
  return [...counts]
    .map(([reviewer, judgments]) => ({ reviewer, kind: kinds.get(reviewer) ?? "person", judgments }))
    .sort((a, b) => b.judgments - a.judgments || byText(a.reviewer, b.reviewer));
}

type Pair = readonly [reviewers: readonly [string, string], values: [JudgmentValue, JudgmentValue][]];

function pairsOf(items: readonly (readonly Vote[])[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const votes of items) {
    const sorted = [...votes].sort((a, b) => byText(a.reviewer, b.reviewer));
    sorted.forEach((first, i) => {
      for (const second of sorted.slice(i + 1)) {
        const key = JSON.stringify([first.reviewer, second.reviewer]);
        const pair: Pair = pairs.get(key) ?? [[first.reviewer, second.reviewer], []];
        pair[1].push([first.value, second.value]);
        pairs.set(key, pair);
      }
    });
  }
  return [...pairs.values()].sort(([a, m], [b, n]) => n.length - m.length || byText(a.join(" "), b.join(" ")));
}

/** Krippendorff's alpha of each value against all others, in one pass: an item adds nothing to values that it does not have. */
function byValue(units: readonly (readonly JudgmentValue[])[]): AgreementFigures["byValue"] {
  const ratings = units.reduce((sum, unit) => sum + unit.length, 0);
  return [...talliesOf(units)]
    .sort(([a], [b]) => byText(String(a), String(b)))
    .map(([given, { judgments, items, observed }]) => {
      const expected = judgments * (ratings - judgments);
      const alpha: Figure =
        expected === 0 ? undefinedFor("no_variation") : { value: 1 - ((ratings - 1) * observed) / expected };
      return { given, judgments, items, ...alpha };
    });
}

interface Tally {
  judgments: number;
  items: number;
  /** Pairs of this value and another on one item, weighted as in the coincidence matrix. */
  observed: number;
}

function talliesOf(units: readonly (readonly JudgmentValue[])[]): Map<JudgmentValue, Tally> {
  const tallies = new Map<JudgmentValue, Tally>();
  for (const unit of units) {
    for (const [value, count] of countEach(unit)) {
      const tally = tallies.get(value) ?? { judgments: 0, items: 0, observed: 0 };
      tally.judgments += count;
      tally.items++;
      tally.observed += (count * (unit.length - count)) / (unit.length - 1);
      tallies.set(value, tally);
    }
  }
  return tallies;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
