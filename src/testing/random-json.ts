import type { FreeForm, FreeMap } from "../formats/json/print-json.ts";
import { pick, type Random } from "./random-workflow.ts";

/** Characters that are easy to get wrong: the edges of planes and of escapes, what looks like space, what ends a line elsewhere. */
const CHARACTERS = [
  ..."abcXYZ 0189\"\\/#{}[]:,.-_`'",
  ..."\b\f\n\r\t\u0000\u0001\u000b\u001f\u007f\u0085\u00a0é\u07ff\u0800№",
  ..."\u2028\u2029\u200b\ud7ff\ue000\ufeff\ufffd\uffff",
  "😀",
  "\u{10000}",
  "\u{10ffff}",
];

/** Names that mean something to a reader or to every object. */
const NAMES = ["type", "id", "kind", "1", "10", "2", "__proto__", "constructor", "toString", "", "é", "😀", "\uffff"];

export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function several<T>(random: Random, most: number, make: (i: number) => T): T[] {
  return Array.from({ length: below(random, most + 1) }, (_, i) => make(i));
}

export function randomText(random: Random, most = 12): string {
  return several(random, most, () => pick(random, CHARACTERS)).join("");
}

/** Also beyond what a double holds, and often at the very edge. */
export function randomInteger(random: Random, least: bigint, most: bigint): bigint {
  const near = BigInt(below(random, 1000));
  const wide = BigInt(below(random, 2 ** 32)) * 2n ** 32n + BigInt(below(random, 2 ** 32));
  const wanted = pick(random, [least, most, least + near, most - near, near, wide, 2n ** 53n + near]);
  return wanted < least || wanted > most ? near : wanted;
}

/** Any finite double, all exponents being equally likely. */
export function randomFloat(random: Random): number {
  if (random() < 0.3) return below(random, 2_000_000) / 1000 - 1000;
  const bits = new DataView(new ArrayBuffer(8));
  bits.setUint32(0, below(random, 2 ** 32));
  bits.setUint32(4, below(random, 2 ** 32));
  const float = bits.getFloat64(0);
  return Number.isFinite(float) ? float : 1.5;
}

export function randomFreeForm(random: Random, depth = 3): FreeForm {
  switch (below(random, depth > 0 ? 9 : 7)) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
      return randomInteger(random, -(2n ** 63n), 2n ** 64n - 1n);
    case 3:
      return randomFloat(random);
    case 7:
      return several(random, 4, () => randomFreeForm(random, depth - 1));
    case 8:
      return randomFreeMap(random, depth - 1);
    default:
      return randomText(random);
  }
}

export function randomFreeMap(random: Random, depth = 3): FreeMap {
  const name = () => (random() < 0.5 ? pick(random, NAMES) : randomText(random, 4));
  return new Map(several(random, 4, () => [name(), randomFreeForm(random, depth)]));
}

/** JSON as somebody might have typed it: spaces, escapes nobody needs, numbers in any form, names that are repeated. */
export function randomJsonText(random: Random, depth = 4): string {
  const inner = () => randomJsonText(random, depth - 1);
  const space = () => pick(random, ["", "", "", " ", "\t", "\r", "  "]);
  switch (below(random, depth > 0 ? 8 : 5)) {
    case 0:
      return pick(random, ["null", "true", "false"]);
    case 1:
      return randomNumberText(random);
    case 5:
      return `[${several(random, 4, () => `${space()}${inner()}${space()}`).join(",") || space()}]`;
    case 6:
    case 7: {
      const member = () => `${space()}${stringText(random)}${space()}:${space()}${inner()}${space()}`;
      return `{${several(random, 4, member).join(",") || space()}}`;
    }
    default:
      return stringText(random);
  }
}

export function randomNumberText(random: Random): string {
  const digits = () => String(below(random, pick(random, [10, 1000, 2 ** 32])));
  const sign = () => pick(random, ["", "-"]);
  const exponent = () => `${pick(random, ["e", "E"])}${pick(random, ["", "+", "-"])}${below(random, 40)}`;
  const float = () => `${sign()}${digits()}.${digits()}${random() < 0.5 ? exponent() : ""}`;
  const integer = () => `${sign()}${digits()}`;
  const long = () => `${sign()}${1 + below(random, 9)}${digits()}${digits()}${digits()}`;
  return pick(random, [integer, long, float, () => `${integer()}${exponent()}`, () => "-0"])();
}

function stringText(random: Random): string {
  const text = random() < 0.3 ? pick(random, NAMES) : randomText(random, 8);
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const characters = Array.from(text, (character) => {
    if (random() < 0.2) return character.split("").map(escaped).join("");
    return character === "/" ? "\\/" : JSON.stringify(character).slice(1, -1);
  });
  return `"${characters.join("")}"`;
}
