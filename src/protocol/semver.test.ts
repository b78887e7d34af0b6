import { describe, expect, test } from "vitest";
import { randomFrom } from "../testing/random-workflow.ts";
import { compareSemver, SEMVER_PATTERN } from "./semver.ts";

const ORDER = [
  "0.0.1",
  "0.1.0",
  "1.0.0-0",
  "1.0.0-2",
  "1.0.0-10",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc.1",
  "1.0.0-rc.1.0-x",
  "1.0.0",
  "1.0.0+build.1",
  "1.0.0+build.2",
  "1.0.1",
  "1.2.0",
  "1.10.0",
  "2.0.0-a-b",
  "2.0.0",
  "99999999999999999999999.0.0",
  "100000000000000000000000.0.0",
];

describe("versions", () => {
  test("come in the order of their precedence, whatever order they are in", () => {
    const random = randomFrom(7);
    for (let round = 0; round < 20; round++) {
      const shuffled = ORDER.map((version) => ({ version, place: random() })).sort((a, b) => a.place - b.place);
      expect(shuffled.map(({ version }) => version).sort(compareSemver)).toEqual(ORDER);
    }
  });

  test("are equal to themselves and nothing else", () => {
    for (const a of ORDER) {
      for (const b of ORDER) {
        expect(compareSemver(a, b)).toBe(-compareSemver(b, a) || 0);
        expect(compareSemver(a, b) === 0).toBe(a === b);
      }
    }
  });

  test("have the form that everybody agreed on", () => {
    const form = new RegExp(SEMVER_PATTERN);
    for (const version of ORDER) expect(form.test(version), version).toBe(true);
    for (const text of [
      "1",
      "1.0",
      "01.0.0",
      "1.0.0-",
      "1.0.0-01",
      "1.0.0+",
      "v1.0.0",
      "1.0.0-a..b",
      "1.0.0 ",
      "1.0.0/x",
    ]) {
      expect(form.test(text), text).toBe(false);
    }
  });
});
