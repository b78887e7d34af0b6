import { printFreeForm } from "../formats/json/print-json.ts";
import { printRow, printSidecarHeader } from "../formats/tapes/sidecar/sidecar.ts";
import type { Tape } from "../formats/tapes/tape.ts";
import { below, randomFreeForm, randomJsonText, randomNumberText, several } from "./random-json.ts";
import { randomRow } from "./random-tapes.ts";
import { pick, type Random } from "./random-workflow.ts";

/** Values on which readers of JSON disagree. */
const ODD_VALUES = [
  "null",
  "0",
  "-0",
  "-1",
  "1.0",
  "1e0",
  "1E2",
  "01",
  "1.",
  ".5",
  "1e",
  "+1",
  "0x1",
  "NaN",
  "1e99",
  "1e308",
  "1e309",
  "1e400",
  "-1e400",
  "1e-400",
  "1".repeat(309),
  `${"1".repeat(300)}e9`,
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "18446744073709551615",
  "18446744073709551616",
  "true",
  "false",
  "truth",
  '""',
  '"\\ud83d\\ude00"',
  '"\\uD83D\\uDE00"',
  '"\\ud83d"',
  '"\\ud83d\\u0041"',
  '"\\ude00"',
  '"\\u00"',
  '"\\x"',
  '"\u0001"',
  '"\t"',
  '"\u007f"',
  '"\u2028\u0085\ufeff"',
  '"unterminated',
  "[]",
  "{}",
  "[1,]",
  '{"a":1,}',
  '{"note":null}',
  '{"human":null}',
  '["annotation"]',
  '[null,"human",null]',
  "[0,0]",
  '{"__proto__":{"kind":"human"},"kind":"human"}',
  '{"kind":"human","kind":"human"}',
  '{"k\\u0069nd":"human","kind":"agent"}',
  '{"k\\u0069nd":"human"}',
  '{"start_event_id":0,"end_event_id":0,"end_event_id":0}',
  '{"start_event_id":0,"end_event_id":0,"x":0,"x":1e3}',
  '[{"label":null,"label":null}]',
  '[{"label":"a","odd":[1e400]}]',
  '[{"l\\u0061bel":1}]',
];

const ODD_NAMES = [
  "id",
  "event_id",
  "type",
  "kind",
  "metadata",
  "x",
  "x",
  "",
  "__proto__",
  "ID",
  "\\u0069d",
  "k\\u0069nd",
  "\\ud800",
];
const SPACES = ["", "", "", "", "", "", " ", "\t", "  ", "\r", "\u00a0"];
const WHOLE_LINES = [
  "",
  " ",
  "# a comment",
  " \t# another",
  "\u00a0\u2028# one more",
  "\ufeff# none",
  "\u0085",
  "{}",
  "[]",
  "null",
  '"annotation"',
  '["annotation","a",0,"note"]',
  '{"type":"annotation"}',
  '{"type":"annotation","event_id":0,"kind":"note"} x',
  '{"type":"annotation","event_id":0,"kind":"note"},',
  '{"type":"annotation","event_id":0,"kind":"note"}{}',
  '{"type":"annotation","type":"annotation","event_id":0,"kind":"note"}',
  '{"type":"annotati\\u006fn","event_id":0,"kind":"note"}',
  '{"type":"remark","event_id":0,"kind":"note"}',
  '{"type":"header","schema_version":1}',
  '{"type":"header","schema_version":9}',
];

/** The line of a row as a person or a program might have written it: any order, any spaces, and now and then something odd. */
export function randomRowLine(random: Random, tape: Tape, oddity = 0.25): string {
  if (random() < 0.3) return printRow(randomRow(random, tape));
  const texts = membersOf(printRow(randomRow(random, tape))).filter(([name]) => random() < 0.9 || isNeeded(name));
  const members = random() < 0.5 ? texts : shuffled(random, texts);
  if (random() < oddity) members.push([pick(random, ODD_NAMES), randomValue(random)]);
  if (random() < oddity && members.length > 0) {
    const [name] = pick(random, members);
    members[below(random, members.length)] = [name, randomValue(random)];
  }
  if (random() < oddity / 5) members.push(["metadata", nested(random)], ["suggested_fix", nested(random)]);
  const space = random() < 0.9 ? () => "" : () => pick(random, SPACES);
  const printed = members.map(([name, value]) => `${space()}"${name}"${space()}:${space()}${value}${space()}`);
  return `${space()}{${printed.join(",")}}${space()}`;
}

/** A file of such lines, with all that may stand around them. */
export function randomSidecarText(random: Random, tape: Tape, rowsMax = 12): string {
  const tape_content_hash = pick(random, [null, "0".repeat(64)]);
  const header = { schema_version: 1n, tape_path: null, tape_content_hash, harn_version: null };
  const oddity = pick(random, [0, 0, 0.02, 0.25]);
  const lines = several(random, rowsMax, () =>
    random() < oddity / 5 ? pick(random, WHOLE_LINES) : randomRowLine(random, tape, oddity),
  );
  if (random() < 0.97) lines.unshift(printSidecarHeader(header));
  if (random() < oddity / 2) lines.unshift(pick(random, WHOLE_LINES));
  const around =
    random() < 0.9 ? () => "" : () => pick(random, ["", "", " ", "\u0085", "\u2028", "\u3000", "\ufeff", "\r"]);
  const ends = pick(random, [["\n"], ["\r\n"], ["\n", "\r\n"]]);
  const text = lines.map((line) => `${around()}${line}${around()}${pick(random, ends)}`).join("");
  return random() < 0.2 ? text.replace(/\r?\n$/, "") : text;
}

function isNeeded(name: string): boolean {
  return ["type", "event_id", "kind"].includes(name);
}

function randomValue(random: Random): string {
  const make = pick(random, [
    () => pick(random, ODD_VALUES),
    () => pick(random, ODD_VALUES),
    () => nested(random),
    () => randomJsonText(random),
    () => randomNumberText(random),
    () => printFreeForm(randomFreeForm(random)),
  ]);
  return make();
}

/** About as deep as is allowed, or a little deeper. */
function nested(random: Random): string {
  const depth = pick(random, [2, 124, 125, 126, 127]);
  const [open, inner, close] = pick(random, [
    ["[", "", "]"],
    ['{"a":', "{}", "}"],
    ["[[],", "1", "]"],
  ]);
  return `${open?.repeat(depth)}${inner}${close?.repeat(depth)}`;
}

/** The members of a line that was printed without spaces, as texts: `JSON.parse` would lose the form of the numbers. */
function membersOf(line: string): [string, string][] {
  const members: [string, string][] = [];
  let depth = 0;
  let start = 1;
  for (const { 0: token, index } of line.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    if (token === "{" || token === "[") depth++;
    if (token === "}" || token === "]") depth--;
    if ((token === "," && depth === 1) || depth === 0) {
      const [, name = "", value = ""] = /^"(\w+)":(.*)$/s.exec(line.slice(start, index)) ?? [];
      members.push([name, value]);
      start = index + 1;
    }
  }
  return members;
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
