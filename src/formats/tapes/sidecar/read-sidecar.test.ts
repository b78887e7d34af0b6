import { describe, expect, test } from "vitest";
import { inPieces, mutated, randomSidecar, randomTape } from "../../../testing/random-tapes.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { bytesOf, fileOf, sidecarText } from "../../../testing/tape-files.ts";
import { FileError } from "../../text/file-error.ts";
import { loadSidecar, readSidecar, sidecarUnreadable } from "./read-sidecar.ts";

const HEADER = '{"type":"header","schema_version":1}';
const ROW = '{"type":"annotation","event_id":1,"kind":"note"}';
const PATH = "some dir/run.tape.annotations.jsonl";

async function errorOf(bytes: string | Uint8Array[]): Promise<FileError> {
  const error = await loadSidecar(PATH, typeof bytes === "string" ? fileOf(bytes) : bytes).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(FileError);
  return error;
}

describe("a sidecar", () => {
  test("may have comments, blank lines and white space anywhere, also before the header", async () => {
    const text = `# c\n\n \t# c\n\u00a0${HEADER}\u0085\r\n#\n\u2028#x\n  ${ROW} \r\n\r\n${ROW}`;
    const lines: number[] = [];
    const header = await readSidecar(PATH, fileOf(text), (_, line) => lines.push(line));
    expect(header.schema_version).toBe(1n);
    expect(lines).toEqual([7, 9]);
  });

  test.each([0, 1])("may be of version %i", async (version) => {
    const text = HEADER.replace("1", String(version));
    expect((await loadSidecar(PATH, fileOf(text))).header.schema_version).toBe(BigInt(version));
  });

  test("is the same in whatever pieces it arrives, and the same after it was written", async () => {
    const random = randomFrom(21);
    for (let i = 0; i < 100; i++) {
      const sidecar = randomSidecar(random, randomTape(random));
      const text = sidecarText(sidecar);
      const read = await loadSidecar(PATH, inPieces(bytesOf(text), random, 50));
      expect(read).toEqual(sidecar);
      expect(sidecarText(read)).toBe(text);
    }
  });

  test("may have a million blank lines and a line of ten million characters", async () => {
    const long = ROW.replace('"kind"', `"evidence":"${"x".repeat(10_000_000)}","kind"`);
    const { rows } = await loadSidecar(PATH, fileOf(`${HEADER}${"\n".repeat(1_000_000)}${long}\n`));
    expect(rows.map(({ evidence }) => evidence?.length)).toEqual([10_000_000]);
  });
});

describe("a sidecar that cannot be loaded", () => {
  test.each([
    ["", "empty_file", {}, `empty annotation file: ${PATH} (expected a header on line 1)`],
    ["\r", "empty_file", {}, `empty annotation file: ${PATH} (expected a header on line 1)`],
    ["# a\n\n \u0085\n\t# b", "empty_file", {}, `empty annotation file: ${PATH} (expected a header on line 1)`],
    ["\n\n{", "header_parse", { line: 3 }, `parse annotation header at line 3 in ${PATH}: `],
    [`\ufeff# comment\n${HEADER}`, "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    [`\ufeff${HEADER}`, "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    [`${HEADER} # c`, "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    ['{"type":"annotation"}', "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    ['{"schema_version":1}', "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    [HEADER.replace("1", "4294967296"), "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    [HEADER.replace("1", "-1"), "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    [HEADER.replace("1", "1.0"), "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    [HEADER.replace("1", '"1"'), "header_parse", { line: 1 }, `parse annotation header at line 1 in ${PATH}: `],
    [
      `# c\n${ROW}\n${HEADER}`,
      "header_missing",
      { line: 2 },
      `annotation file ${PATH} is missing its header (first non-empty line is a record)`,
    ],
    [
      `${HEADER.replace("1", "2")}\nnonsense`,
      "unsupported_schema_version",
      { declared: 2, supported: 1 },
      `annotation file ${PATH} declares schema_version 2 but this runtime supports up to 1`,
    ],
    [
      HEADER.replace("1", "4294967295"),
      "unsupported_schema_version",
      { declared: 4294967295, supported: 1 },
      `annotation file ${PATH} declares schema_version 4294967295 but this runtime supports up to 1`,
    ],
    [`# c\n${HEADER}\n\n${ROW}\n{}`, "record_parse", { line: 5 }, `parse annotation at line 5 in ${PATH}: `],
    [`${HEADER}\n${ROW}${ROW}`, "record_parse", { line: 2 }, `parse annotation at line 2 in ${PATH}: `],
    [`${HEADER}\n\ufeff`, "record_parse", { line: 2 }, `parse annotation at line 2 in ${PATH}: `],
    [`${HEADER}\n${ROW} # c`, "record_parse", { line: 2 }, `parse annotation at line 2 in ${PATH}: `],
    [`${HEADER}\n{"type":"header"}`, "record_parse", { line: 2 }, `parse annotation at line 2 in ${PATH}: `],
    [
      `${HEADER}\r\n#\r\n${HEADER}\n{`,
      "second_header",
      { line: 3 },
      `annotation file ${PATH} contains a second header at line 3`,
    ],
    [
      `${HEADER}\n${HEADER.replace("1", "9")}`,
      "second_header",
      { line: 2 },
      `annotation file ${PATH} contains a second header at line 2`,
    ],
  ] as const)("says why: %j", async (text, code, place, message) => {
    const error = await errorOf(text);
    expect(error).toMatchObject({ code, path: PATH, place });
    const whole = `load annotations ${PATH}: ${message}`;
    expect(code.endsWith("parse") ? error.message.slice(0, whole.length) : error.message).toBe(whole);
  });

  test("is unreadable before anything else when it is not UTF-8 anywhere", async () => {
    for (const text of [
      "",
      "{\n",
      `${ROW}\n`,
      HEADER.replace("1", "2"),
      `${HEADER}\n{\n`,
      `${HEADER}\n${HEADER}\n`,
      "# ",
    ]) {
      const error = await errorOf([bytesOf(text), Uint8Array.of(0xff), bytesOf("\n")]);
      expect(error).toMatchObject({ code: "read_failed", path: PATH, place: {} });
      expect(error.message).toBe(`load annotations ${PATH}: read ${PATH}: stream did not contain valid UTF-8`);
    }
  });

  test("is unreadable with the reason when it does not arrive", () => {
    expect(sidecarUnreadable(PATH, "no such file").message).toBe(
      `load annotations ${PATH}: read ${PATH}: no such file`,
    );
  });

  test("ends with one of the known errors, whatever is in it", async () => {
    const random = randomFrom(22);
    const codes = new Set<string>();
    for (let i = 0; i < 2000; i++) {
      const bytes = mutated(bytesOf(sidecarText(randomSidecar(random, randomTape(random, 2), 3))), random);
      const read = await loadSidecar(PATH, [bytes]).catch((error) => error);
      if (read instanceof FileError) codes.add(read.code);
      else expect(await loadSidecar(PATH, fileOf(sidecarText(read)))).toEqual(read);
    }
    const found = ["empty_file", "header_missing", "header_parse", "read_failed", "record_parse", "second_header"];
    expect([...codes].sort()).toEqual(found);
  });
});
