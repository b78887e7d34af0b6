import type { ActorKind } from "../../../protocol/judgments/annotation.ts";
import type { AgreementFigures } from "../../../protocol/queues/agreement-api.ts";
import type { JudgmentValue, QueueRules } from "../../../protocol/queues/api.ts";
import { AgreementTally, PairTally } from "../../../statistics/agreement.ts";

export interface Vote {
  readonly reviewer: string;
  readonly kind: ActorKind;
  readonly value: JudgmentValue;
}

/** The pairs with most items in common are listed. */
const PAIRS_MAX = 200;

/** The agreement of reviewers. Items are added one by one: there may be 50,000 with 20 judgments each. */
export class QueueTally {
  readonly #values = new AgreementTally();
  readonly #reviewers = new Map<string, { kind: ActorKind; judgments: number }>();
  readonly #pairs = new Map<string, Map<string, PairTally>>();
  #judgments = 0;

  /** The judgments on one item that count. */
  add(votes: readonly Vote[]): void {
    for (const { reviewer, kind } of votes) {
      const { judgments } = this.#reviewers.get(reviewer) ?? { judgments: 0 };
      this.#reviewers.set(reviewer, { kind, judgments: judgments + 1 });
    }
    this.#judgments += votes.length;
    if (votes.length < 2) return;
    this.#values.add(votes.map(({ value }) => value));
    const sorted = [...votes].sort((a, b) => byText(a.reviewer, b.reviewer));
    sorted.forEach((first, i) => {
      for (const second of sorted.slice(i + 1))
        this.#pair(first.reviewer, second.reviewer).add(first.value, second.value);
    });
  }

  figures(kind: QueueRules["judgment"]["kind"]): AgreementFigures {
    const pairs = [...this.#pairs]
      .flatMap(([first, others]) => [...others].map(([second, tally]) => ({ reviewers: [first, second], tally })))
      .sort((a, b) => b.tally.items - a.tally.items || byText(a.reviewers.join(" "), b.reviewers.join(" ")));
    return {
      items: this.#values.paired,
      judgments: this.#judgments,
      agreed: this.#values.agreed,
      reviewers: [...this.#reviewers]
        .map(([reviewer, counted]) => ({ reviewer, ...counted }))
        .sort((a, b) => b.judgments - a.judgments || byText(a.reviewer, b.reviewer)),
      cohen: pairs.slice(0, PAIRS_MAX).map(({ reviewers, tally }) => ({ reviewers, ...tally.cohenKappa() })),
      morePairs: Math.max(0, pairs.length - PAIRS_MAX),
      fleiss: this.#values.fleissKappa(),
      krippendorff: this.#values.krippendorffAlpha(kind === "rating" ? "ordinal" : "nominal"),
      byValue: this.#values.byValue().sort((a, b) => byText(String(a.given), String(b.given))),
    };
  }

  #pair(first: string, second: string): PairTally {
    const others = this.#pairs.get(first) ?? new Map<string, PairTally>();
    this.#pairs.set(first, others);
    const tally = others.get(second) ?? new PairTally();
    others.set(second, tally);
    return tally;
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
