/** How many texts differ between a value and what was made of it; names of members are the same in both. */
export function changedTexts(before: unknown, after: unknown): number {
  if (Object.is(before, after)) return 0;
  if (typeof before !== "object" || before === null || typeof after !== "object" || after === null) return 1;
  const members = after as Readonly<Record<string, unknown>>;
  return Object.entries(before).reduce((count, [name, item]) => count + changedTexts(item, members[name]), 0);
}
