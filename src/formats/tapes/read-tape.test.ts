import { describe, expect, test } from "vitest";
import { inPieces, mutated, randomTape } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { bytesOf, fileOf, tapeText } from "../../testing/tape-files.ts";
import { FileError } from "../text/file-error.ts";
import { loadTape, readTape, tapeLines, tapeUnreadable } from "./read-tape.ts";

const HEADER = '{"type":"header","version":1,"harn_version":"v"}';
const RECORD =
  '{"type":"record","seq":0,"virtual_time_ms":0,"monotonic_ms":0,"kind":{"kind":"clock_sleep","duration_ms":1}}';
const PATH = "some dir/run.tape";

async function errorOf(bytes: string | Uint8Array[]): Promise<FileError> {
  const error = await loadTape(PATH, typeof bytes === "string" ? fileOf(bytes) : bytes).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(FileError);
  return error;
}

describe("a tape", () => {
  test("has a header and its records in the order of the file", async () => {
    const tape = await loadTape(
      PATH,
      fileOf(`${HEADER}\n${RECORD}\n${RECORD.replace('"seq":0', '"seq":7')}\n${RECORD}`),
    );
    expect(tape.header).toMatchObject({ version: 1n, harn_version: "v", argv: [] });
    expect(tape.records.map(({ seq }) => seq)).toEqual([0n, 7n, 0n]);
  });

  test("may have blank lines and white space around records, and JSON's around the header", async () => {
    const text = ` \t${HEADER} \r\n\n \u00a0\u2028\n\u0085${RECORD}\u3000\r\n\r\n`;
    expect((await loadTape(PATH, fileOf(text))).records).toHaveLength(1);
  });

  test.each([0, 1])("may be of version %i", async (version) => {
    const text = HEADER.replace('"version":1', `"version":${version}`);
    expect((await loadTape(PATH, fileOf(text))).header.version).toBe(BigInt(version));
  });

  test("is the same in whatever pieces it arrives, and the same after it was written", async () => {
    const random = randomFrom(11);
    for (let i = 0; i < 100; i++) {
      const tape = randomTape(random);
      const text = tapeText(tape);
      const read = await loadTape(PATH, inPieces(bytesOf(text), random, 50));
      expect(read).toEqual(tape);
      expect([...tapeLines(read)].join("")).toBe(text);
    }
  });

  test("is handed on record by record", async () => {
    const seen: bigint[] = [];
    const header = await readTape(PATH, fileOf(`${HEADER}\n${RECORD}\n`), ({ seq }) => seen.push(seq));
    expect([header.version, seen]).toEqual([1n, [0n]]);
  });
});

describe("a tape that cannot be loaded", () => {
  test.each([
    ["", "tape_empty", {}, `empty tape file: ${PATH}`],
    ["\n", "tape_header_parse", { line: 1 }, `parse tape header in ${PATH}: `],
    [`\n${HEADER}`, "tape_header_parse", { line: 1 }, `parse tape header in ${PATH}: `],
    ["# comment", "tape_header_parse", { line: 1 }, `parse tape header in ${PATH}: `],
    [`\ufeff${HEADER}`, "tape_header_parse", { line: 1 }, `parse tape header in ${PATH}: `],
    [`\u00a0${HEADER}`, "tape_header_parse", { line: 1 }, `parse tape header in ${PATH}: `],
    [`${HEADER}${HEADER}`, "tape_header_parse", { line: 1 }, `parse tape header in ${PATH}: `],
    ['{"type":"header","version":4294967296,"harn_version":""}', "tape_header_parse", { line: 1 }, "parse tape header"],
    ['{"type":"header","version":1.0,"harn_version":""}', "tape_header_parse", { line: 1 }, "parse tape header"],
    ['{"type":"record"}', "tape_header_parse", { line: 1 }, `parse tape header in ${PATH}: `],
    [RECORD, "tape_header_missing", { line: 1 }, `tape ${PATH} is missing its header (first line is a record)`],
    [
      `${HEADER.replace("1", "2")}\nnonsense`,
      "unsupported_tape_version",
      { declared: 2, supported: 1 },
      `tape ${PATH} declares version 2 but this runtime supports up to 1`,
    ],
    [
      HEADER.replace("1", "4294967295"),
      "unsupported_tape_version",
      { declared: 4294967295, supported: 1 },
      `tape ${PATH} declares version 4294967295 but this runtime supports up to 1`,
    ],
    [`${HEADER}\n\n${RECORD}\n{`, "tape_record_parse", { line: 4 }, `parse tape record at line 4 in ${PATH}: `],
    [`${HEADER}\n# comment`, "tape_record_parse", { line: 2 }, `parse tape record at line 2 in ${PATH}: `],
    [`${HEADER}\n\ufeff`, "tape_record_parse", { line: 2 }, `parse tape record at line 2 in ${PATH}: `],
    [`${HEADER}\n{"type":"header"}`, "tape_record_parse", { line: 2 }, `parse tape record at line 2 in ${PATH}: `],
    [
      `${HEADER}\r\n\r\n${HEADER}\n{`,
      "tape_second_header",
      { line: 3 },
      `tape ${PATH} contains a second header at line 3`,
    ],
    [
      `${HEADER}\n${HEADER.replace("1", "9")}`,
      "tape_second_header",
      { line: 2 },
      `tape ${PATH} contains a second header at line 2`,
    ],
  ] as const)("says why: %j", async (text, code, place, message) => {
    const error = await errorOf(text);
    expect(error).toMatchObject({ code, path: PATH, place });
    const whole = `load tape ${PATH}: ${message}`;
    expect(code.endsWith("parse") ? error.message.slice(0, whole.length) : error.message).toBe(whole);
  });

  test("is unreadable before anything else when it is not UTF-8 anywhere", async () => {
    for (const text of [
      "",
      "{\n",
      `${RECORD}\n`,
      HEADER.replace("1", "2"),
      `${HEADER}\n{\n`,
      `${HEADER}\n${HEADER}\n`,
    ]) {
      const error = await errorOf([bytesOf(text), bytesOf("\n"), Uint8Array.of(0xff)]);
      expect(error).toMatchObject({ code: "tape_read_failed", path: PATH, place: {} });
      expect(error.message).toBe(`load tape ${PATH}: read ${PATH}: stream did not contain valid UTF-8`);
    }
  });

  test("is unreadable with the reason when it does not arrive", () => {
    expect(tapeUnreadable(PATH, "no such file").message).toBe(`load tape ${PATH}: read ${PATH}: no such file`);
  });

  test("ends with one of the known errors, whatever is in it", async () => {
    const random = randomFrom(12);
    const codes = new Set<string>();
    for (let i = 0; i < 2000; i++) {
      const bytes = mutated(bytesOf(tapeText(randomTape(random, 3))), random);
      const read = await loadTape(PATH, [bytes]).catch((error) => error);
      if (read instanceof FileError) codes.add(read.code);
      else expect(await loadTape(PATH, fileOf(tapeText(read)))).toEqual(read);
    }
    const found = ["empty", "header_missing", "header_parse", "read_failed", "record_parse", "second_header"];
    expect([...codes].sort()).toEqual(found.map((code) => `tape_${code}`));
  });
});
