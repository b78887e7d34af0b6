import { below, randomFreeForm, randomText } from "../../src/testing/random-json.ts";
import { pick, type Random } from "../../src/testing/random-workflow.ts";

const NAMES = ["__proto__", "constructor", "toString", "", "id", "type", "$ref", "runId", "é", "a".repeat(300)];
const STRINGS = ["", "\u0000", "\ud800", "../../etc/passwd", "%00", "' OR 1=1 --", "{{x}}", "x".repeat(5000), "\u202e"];
const NUMBERS = [0, -1, 1.5, 1e308, -1e308, 2 ** 53, -(2 ** 53), 2 ** 31, 4_294_967_296];

/** A value of any shape, often one that code forgets. */
function hostileValue(random: Random): unknown {
  const kinds = [
    () => pick(random, STRINGS),
    () => pick(random, NUMBERS),
    () => pick(random, [null, true, false, [], {}, [[]], [null]]),
    () => randomText(random),
    () => plain(randomFreeForm(random)),
    () => Array.from({ length: below(random, 300) }, () => pick(random, STRINGS)),
  ];
  return pick(random, kinds)();
}

/** `randomFreeForm` uses maps and big integers, which `JSON.stringify` does not write. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]));
  return value;
}

/** The same value with one place changed: replaced, removed, repeated, or given a further member. */
export function mutateValue(random: Random, value: unknown): unknown {
  if (value === null || typeof value !== "object" || random() < 0.25) return hostileValue(random);
  if (Array.isArray(value)) return mutateList(random, value);
  const entries = Object.entries(value);
  const at = below(random, entries.length + 1);
  if (at === entries.length) return Object.fromEntries([...entries, [pick(random, NAMES), hostileValue(random)]]);
  if (random() < 0.2) return Object.fromEntries(entries.filter((_, i) => i !== at));
  return Object.fromEntries(
    entries.map(([name, member], i) => [name, i === at ? mutateValue(random, member) : member]),
  );
}

function mutateList(random: Random, list: readonly unknown[]): unknown[] {
  const at = below(random, list.length + 1);
  if (at === list.length) return [...list, hostileValue(random)];
  if (random() < 0.2) return list.filter((_, i) => i !== at);
  if (random() < 0.2) return [...list, ...Array.from({ length: 50 }, () => list[at])];
  return list.map((member, i) => (i === at ? mutateValue(random, member) : member));
}

/** The same text with a few characters cut, doubled or replaced. */
export function mutateText(random: Random, text: string): string {
  const from = below(random, text.length + 1);
  const to = Math.min(text.length, from + below(random, 9));
  const middle = pick(random, ["", text.slice(from, to).repeat(2), randomText(random), "\\ud800", "}", '"', "1e999"]);
  return text.slice(0, from) + middle + text.slice(to);
}

/** A path segment or query value that is safe to send and wrong to believe. */
export function hostileSegment(random: Random): string {
  return encodeURIComponent(
    pick(random, ["none", "..", "%", "a:b", "é", "x".repeat(400), "0", "-1", "*", "'", "null"]),
  );
}
