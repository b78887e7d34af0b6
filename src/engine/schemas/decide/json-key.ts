import type { WorkBudget } from "./work-budget.ts";

/** A text that two JSON values share exactly when they are equal, whatever the order of their members. Costs one unit per value in it. */
export function jsonKey(value: unknown, budget: WorkBudget): string {
  if (typeof value === "string") budget.charge(1 + (value.length >> CHARACTERS));
  else budget.charge(1);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map((item) => jsonKey(item, budget)).join(",")}]`;
  const members = value as Readonly<Record<string, unknown>>;
  const named = (name: string) => `${JSON.stringify(name)}:${jsonKey(members[name], budget)}`;
  return `{${Object.keys(members).sort().map(named).join(",")}}`;
}

/** Texts are compared, copied and counted at 64 characters for a unit. */
export const CHARACTERS = 6;
