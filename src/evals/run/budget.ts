export interface Overspent {
  /** Absent where a price is missing. */
  readonly spentUsd?: number;
}

/** Money spent of a budget. Without a price the cost is unknown, and a budget that cannot be kept counts as spent. */
export class Budget {
  readonly #limitUsd: number | undefined;
  #spentUsd: number | undefined = 0;

  constructor(limitUsd: number | undefined) {
    this.#limitUsd = limitUsd;
  }

  spend(costUsd: number | undefined): void {
    this.#spentUsd = costUsd === undefined || this.#spentUsd === undefined ? undefined : this.#spentUsd + costUsd;
  }

  /** Undefined while more may be spent. */
  overspent(): Overspent | undefined {
    if (this.#limitUsd === undefined) return undefined;
    if (this.#spentUsd === undefined) return {};
    return this.#spentUsd > this.#limitUsd ? { spentUsd: this.#spentUsd } : undefined;
  }
}

export function overspentText({ spentUsd }: Overspent, limitUsd: number | undefined): string {
  if (spentUsd === undefined) return "what it spends is not known, since a price is missing";
  // Rounded to the billionth: the sum of a few prices is not exact.
  return `it has spent ${Math.round(spentUsd * 1e9) / 1e9} of ${limitUsd ?? 0} USD`;
}
