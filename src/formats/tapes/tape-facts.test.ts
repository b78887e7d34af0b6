import { isUtf8 } from "node:buffer";
import { describe, expect, test } from "vitest";
import { inPieces, mutated, randomTape } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { aRecord, aTapeHeader, bytesOf, tapeText } from "../../testing/tape-files.ts";
import { FileError } from "../text/file-error.ts";
import type { Bytes } from "../text/lines.ts";
import { loadTape } from "./read-tape.ts";
import { printTapeHeader, printTapeRecord } from "./tape.ts";
import { factsOf, readTapeFacts, skimRecord, type TapeFacts } from "./tape-facts.ts";

/** `FUZZ_FILES=200000 FUZZ_SEED=1 npx vitest run src/formats/tapes/tape-facts.test.ts` takes its time. */
const FILES = Number(process.env["FUZZ_FILES"] ?? 500);
const FIRST_SEED = Number(process.env["FUZZ_SEED"] ?? 1);

async function exactly(bytes: Bytes, probes: readonly bigint[]) {
  return outcomeOf(async () => factsOf((await loadTape("t.tape", bytes)).records), probes);
}

async function quickly(bytes: Bytes, probes: readonly bigint[]) {
  return outcomeOf(() => readTapeFacts("t.tape", bytes, { isUtf8 }), probes);
}

async function outcomeOf(reading: () => Promise<TapeFacts>, probes: readonly bigint[]) {
  try {
    const { digest, seqs } = await reading();
    return { digest, last: seqs.last, has: probes.map((seq) => seqs.has(seq)) };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { code: error.code, message: error.message, place: error.place };
  }
}

describe("what is known of a tape", () => {
  test("is the same whether its records are skimmed or read", { timeout: 0 }, async () => {
    const counts: Record<string, number> = {};
    for (let seed = FIRST_SEED; seed < FIRST_SEED + FILES; seed++) {
      const random = randomFrom(seed);
      const tape = randomTape(random);
      const probes = tape.records.flatMap(({ seq }) => [seq, seq + 1n]);
      const printed = tapeText(tape);
      const spaced = random() < 0.2 ? printed.replaceAll('":', '": ') : printed;
      const text = bytesOf(random() < 0.2 ? spaced.replaceAll("\n", "\r\n") : spaced);
      const file = random() < 0.5 ? mutated(text, random) : text;
      const expected = await exactly([file], probes);
      expect(await quickly(inPieces(file, random, random() < 0.3 ? 3 : 4000), probes), `seed ${seed}`).toEqual(
        expected,
      );
      const result = "code" in expected ? expected.code : "loaded";
      counts[result] = (counts[result] ?? 0) + 1;
    }
    if (process.env["FUZZ_FILES"] !== undefined)
      console.log(`seeds ${FIRST_SEED} to ${FIRST_SEED + FILES - 1}`, counts);
    for (const result of ["loaded", "tape_record_parse", "tape_header_parse", "tape_read_failed"]) {
      expect(counts[result], result).toBeGreaterThan(FILES / 300);
    }
  });

  test.each([
    ["an escape nobody needs", '"a\\/b"', '"a/b"'],
    ["upper-case digits", '"\\u001B"', '"\\u001b"'],
    ["a letter written as a number", '"\\u000a"', '"\\n"'],
    ["a character written as a number", '"\\u00e9"', '"é"'],
    ["a control character", '"\\u001b"', '"\\u001b"'],
  ])("does not depend on how a text is written: %s", async (_, written, printed) => {
    const tape = (path: string) =>
      `${printTapeHeader(aTapeHeader())}\n{"type":"record","seq":0,"phase":"user_script","virtual_time_ms":0,"monotonic_ms":0,"kind":{"kind":"file_delete","path":${path}}}\n`;
    const expected = await exactly([bytesOf(tape(printed))], [0n]);
    expect(await quickly([bytesOf(tape(printed))], [0n])).toEqual(expected);
    expect(await quickly([bytesOf(tape(written))], [0n])).toEqual(expected);
  });

  test.each(["-0", "01", "-01", "1.0", "1e0", "9223372036854775808"])(
    "is not to be had with %s for a time",
    async (time) => {
      const record = printTapeRecord(aRecord()).replace('"virtual_time_ms":0', `"virtual_time_ms":${time}`);
      const file = [bytesOf(`${printTapeHeader(aTapeHeader())}\n${record}\n`)];
      expect(await quickly(file, [])).toMatchObject({ code: "tape_record_parse", place: { line: 2 } });
      expect(await quickly(file, [])).toEqual(await exactly(file, []));
    },
  );

  test("is found without reading the records that a writer has printed", () => {
    let skimmed = 0;
    for (let seed = 0; seed < 400; seed++) {
      for (const record of randomTape(randomFrom(seed)).records) {
        const bytes = bytesOf(`${printTapeRecord({ ...record, virtual_time_ms: 1n, monotonic_ms: -1n, seq: 3n })}\n`);
        if (skimRecord({ seq: 0 }, bytes, 0) === bytes.length - 1) skimmed++;
        // Lengths of 20 digits are left to the exact reader.
        else expect(new TextDecoder().decode(bytes)).toMatch(/\d{10}/);
      }
    }
    expect(skimmed).toBeGreaterThan(500);
  });
});
