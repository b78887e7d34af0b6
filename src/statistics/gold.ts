import { instantMs } from "../protocol/instant.ts";
import type { ActorKind } from "../protocol/judgments/annotation.ts";

export interface GoldJudgment {
  readonly itemId: string;
  readonly by: string;
  readonly kind: ActorKind;
  readonly label: string;
  /** A person settled the item after others had disagreed. */
  readonly adjudicated: boolean;
  /** RFC 3339. */
  readonly at: string;
}

export interface Gold {
  /** In the order of their ids. */
  readonly items: readonly { readonly itemId: string; readonly gold: string }[];
  /** Items without a majority label and without adjudication. They are not gold. */
  readonly disputed: readonly string[];
}

/**
 * The gold label of each item. Only labels by people count. The newest adjudication wins; else the label of more than half of the
 * people, with the newest judgment of each.
 */
export function goldOf(judgments: readonly GoldJudgment[]): Gold {
  const byItem = new Map<string, GoldJudgment[]>();
  for (const judgment of judgments.filter(({ kind }) => kind === "person")) {
    const others = byItem.get(judgment.itemId);
    if (others) others.push(judgment);
    else byItem.set(judgment.itemId, [judgment]);
  }
  const settled = [...byItem.keys()].sort().map((itemId) => ({ itemId, gold: labelOf(byItem.get(itemId) ?? []) }));
  return {
    items: settled.flatMap(({ itemId, gold }) => (gold === undefined ? [] : [{ itemId, gold }])),
    disputed: settled.flatMap(({ itemId, gold }) => (gold === undefined ? [itemId] : [])),
  };
}

function labelOf(judgments: readonly GoldJudgment[]): string | undefined {
  const inOrder = [...judgments].sort((a, b) => msOf(a) - msOf(b));
  const adjudicated = inOrder.findLast((judgment) => judgment.adjudicated);
  if (adjudicated) return adjudicated.label;
  const newest = [...new Map(inOrder.map((judgment) => [judgment.by, judgment.label])).values()];
  return newest.find((label) => newest.filter((other) => other === label).length * 2 > newest.length);
}

/** A judgment whose date cannot be read counts as older than all others. */
function msOf({ at }: GoldJudgment): number {
  return instantMs(at) ?? Number.MIN_SAFE_INTEGER;
}
