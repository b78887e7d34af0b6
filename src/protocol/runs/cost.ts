/** Numbers add up over the run; texts are the latest. */
export function addCost(before: Readonly<Record<string, unknown>>, attributes: Readonly<Record<string, unknown>>) {
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(attributes)) {
    const held = after[name];
    after[name] = typeof value === "number" && typeof held === "number" ? held + value : value;
  }
  return after;
}
