import { describe, expect, test } from "vitest";
import { randomRowLine } from "../../../testing/random-lines.ts";
import { randomRow, randomTape } from "../../../testing/random-tapes.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { bytesOf } from "../../../testing/tape-files.ts";
import { readJson } from "../../json/exact-json.ts";
import { UNSURE } from "../../json/skim-json.ts";
import { printRow, type Row, readSidecarLine } from "../sidecar/sidecar.ts";
import { SkimmedRow, skimRow } from "./skim-row.ts";

function skim(line: string) {
  const bytes = bytesOf(`${line}\n`);
  const row = new SkimmedRow();
  row.clear(bytes);
  const end = skimRow(row, bytes, 0);
  return end === UNSURE ? undefined : { end, row: row.read(), length: bytes.length - 1 };
}

describe("a line that was skimmed", () => {
  test("is one that the exact reader reads as the same row", () => {
    let skimmed = 0;
    for (let seed = 0; seed < 2500; seed++) {
      const random = randomFrom(seed);
      const line = randomRowLine(random, randomTape(random, 4));
      const found = skim(line);
      if (found === undefined || found.end < found.length) continue;
      skimmed++;
      const read = readSidecarLine(readJson(line));
      expect(read, line).toMatchObject({ type: "annotation", row: found.row });
    }
    expect(skimmed).toBeGreaterThan(600);
  });

  test("is any that a writer printed, unless its id has escapes, a number is beyond doubles or a word is new", () => {
    for (let seed = 0; seed < 1000; seed++) {
      const random = randomFrom(seed);
      const row: Row = {
        ...randomRow(random, randomTape(random, 4)),
        id: `ann_${seed}`,
        event_id: 7n,
        friction_kind: null,
        suggested_fix: [-3n, 1e-7, 1e200, "\u0001"],
        metadata: new Map<string, number | null>([
          ["a", 0.25],
          ["", null],
        ]),
      };
      const line = printRow({ ...row, span: { start_event_id: 7n, end_event_id: 9n } });
      expect(skim(line)?.end, line).toBe(bytesOf(line).length);
    }
  });

  test("keeps a byte-order mark in an id", () => {
    expect(skim('{"type":"annotation","id":"\ufeffa","event_id":0,"kind":"note"}')?.row.id).toBe("\ufeffa");
  });
});
