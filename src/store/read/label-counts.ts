/** The labels of a group that a summary names; it counts the others: a group of 100,000 labels would block all readers. */
export const LABELS_NAMED = 1000;

export interface NamedLabels {
  readonly labels: Readonly<Record<string, number>>;
  /** How many judgments gave a label that is not named. */
  readonly otherLabels: number;
}

/** How often each label was given, by group. */
export class LabelCounts {
  readonly #groups = new Map<string, Map<string, number>>();

  add(group: string, label: string, n: number): void {
    let counts = this.#groups.get(group);
    if (counts === undefined) {
      counts = new Map();
      this.#groups.set(group, counts);
    }
    counts.set(label, (counts.get(label) ?? 0) + n);
  }

  of(group: string): NamedLabels {
    const counts = this.#groups.get(group);
    if (counts === undefined) return { labels: {}, otherLabels: 0 };
    const named = mostFrequent(counts);
    let otherLabels = 0;
    for (const n of counts.values()) otherLabels += n;
    for (const [, n] of named) otherLabels -= n;
    return { labels: Object.fromEntries(named), otherLabels };
  }
}

type Entry = readonly [label: string, n: number];

/** Kept and cut in batches, so that a group of any number of labels is gone through once. */
function mostFrequent(counts: ReadonlyMap<string, number>): Entry[] {
  let named: Entry[] = [];
  let least = 0;
  for (const entry of counts) {
    if (entry[1] < least) continue;
    named.push(entry);
    if (named.length < 4 * LABELS_NAMED) continue;
    named = named.sort(byNumber).slice(0, LABELS_NAMED);
    least = named.at(-1)?.[1] ?? 0;
  }
  return named.sort(byNumber).slice(0, LABELS_NAMED);
}

function byNumber([label, n]: Entry, [otherLabel, other]: Entry): number {
  return other - n || (label < otherLabel ? -1 : 1);
}
