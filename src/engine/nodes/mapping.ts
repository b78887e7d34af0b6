import { own } from "../../protocol/own.ts";

/** From names of variables on one side to those on the other: `{ to: from }`. */
type Mapping = Readonly<Record<string, string>>;

/** What has no value is left out. */
export function mapped(mapping: Mapping, from: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const pairs = Object.entries(mapping).map(([to, name]) => [to, own(from, name)] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}

/** Which of the names on this side are masked because those they come from are. */
export function maskedBy(mapping: Mapping, sensitive: readonly string[]): string[] {
  const names = new Set(sensitive);
  return Object.keys(mapping).filter((to) => names.has(mapping[to] ?? ""));
}
