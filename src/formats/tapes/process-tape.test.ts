import { describe, expect, test } from "vitest";
import { fileOf } from "../../testing/tape-files.ts";
import {
  checkProcessTape,
  loadProcessTape,
  type ProcessEntry,
  ProcessReplay,
  printProcessTape,
} from "./process-tape.ts";

function load(content: string): Promise<ProcessEntry[]> {
  return loadProcessTape("p.json", fileOf(content));
}

const DEFAULTS = { args: [], cwd: null, env: new Map(), stdout: "", stderr: "", exit_code: 0n, duration_ms: 0n };

describe("a subprocess tape", () => {
  test("is an empty list when the file is empty", async () => {
    for (const content of ["", "\n \t\n", "[]"]) expect(await load(content)).toEqual([]);
    expect(printProcessTape([])).toBe("[]");
  });

  test("needs nothing but programs", async () => {
    expect(await load('[{"program":"git"},{"program":"","cwd":null,"later":1}]')).toEqual([
      { program: "git", ...DEFAULTS },
      { program: "", ...DEFAULTS },
    ]);
  });

  test("is written indented, with every member and without a final line end, and reads back the same", async () => {
    const entries = await load('[{"duration_ms":18446744073709551615,"args":["a","b"],"program":"x","exit_code":-1}]');
    const written = printProcessTape(entries);
    expect(written).toBe(`[
  {
    "program": "x",
    "args": [
      "a",
      "b"
    ],
    "cwd": null,
    "env": {},
    "stdout": "",
    "stderr": "",
    "exit_code": -1,
    "duration_ms": 18446744073709551615
  }
]`);
    expect(await load(written)).toEqual(entries);
  });

  test.each([
    ['{"program":"x"}', 1, 1, "a list of subprocesses is expected"],
    ['[\n  {"program":"x"},\n  oops\n]', 3, 3, "no JSON value begins here"],
    ["[1", 1, 3, "`,` or `]` is expected"],
    ["\ufeff[]", 1, 1, "no JSON value begins here"],
  ])("that is no JSON list is refused with its line: %j", async (content, line, column, reason) => {
    const message = `load subprocess tape p.json: parse p.json at line ${line}, column ${column}: ${reason}`;
    await expect(load(content)).rejects.toMatchObject({ code: "process_tape_parse", message, place: { line } });
  });

  test("that is not UTF-8 or cannot be read is refused as a whole", async () => {
    const bytes = [Uint8Array.of(0x5b, 0xff, 0x5d)];
    await expect(loadProcessTape("p", bytes)).rejects.toMatchObject({
      code: "process_tape_read_failed",
      message: "load subprocess tape p: read p: stream did not contain valid UTF-8",
    });
    const cut = [Uint8Array.of(0x22, 0xc3)];
    await expect(loadProcessTape("p", cut)).rejects.toMatchObject({ code: "process_tape_read_failed" });
  });

  test("is checked to its end, and every entry that is wrong is named", async () => {
    const content = JSON.stringify([
      { program: "fine" },
      { args: [] },
      { program: "x", exit_code: 2 ** 31 },
      { program: "x", stdout: null },
      { program: "x", env: { A: "1" } },
      "x",
      { program: "x", duration_ms: -1 },
    ]);
    const { entries, problems } = checkProcessTape(content);
    expect(entries).toHaveLength(1);
    expect(problems).toEqual([
      { entry: 2, problem: "`program` is missing" },
      { entry: 3, problem: "`exit_code`: 2147483648 where an integer from -2147483648 to 2147483647 is expected" },
      { entry: 4, problem: "`stdout`: null where a string is expected" },
      { entry: 5, problem: "`env`: it is reserved and must be empty" },
      { entry: 6, problem: '"x" where an object is expected' },
      { entry: 7, problem: "`duration_ms`: -1 where an integer from 0 to 18446744073709551615 is expected" },
    ]);
    await expect(load(content)).rejects.toMatchObject({
      code: "process_tape_invalid",
      message: expect.stringMatching(/^load subprocess tape p\.json: entry 2: .*; entry 7: [^;]*$/),
      place: { entry: 2 },
    });
  });

  test("may not say the same thing twice, nor a number in another form", () => {
    expect(checkProcessTape('[{"program":"a","program":"b"}]').problems).toEqual([
      { entry: 1, problem: "`program` is there twice" },
    ]);
    expect(checkProcessTape('[{"program":"a","exit_code":1.0}]').problems).toHaveLength(1);
  });
});

describe("a replay that asks a subprocess tape", () => {
  const entry = (over: Partial<ProcessEntry>): ProcessEntry => ({ program: "git", ...DEFAULTS, ...over });
  const call = { program: "git", args: ["log"], cwd: "/a" };

  test("is answered in the order of the tape, and its clock moves on", () => {
    const entries = [entry({ args: ["log"], stdout: "1", duration_ms: 5n }), entry({ args: ["log"], duration_ms: 7n })];
    const replay = new ProcessReplay("p", entries);
    expect(replay.use(call)).toBe(entries[0]);
    expect([replay.elapsedMs, replay.unused]).toEqual([5n, [entries[1]]]);
    expect(replay.use({ ...call, cwd: "/b" })).toBe(entries[1]);
    expect([replay.elapsedMs, replay.unused]).toEqual([12n, []]);
  });

  test.each([
    [{ program: "hg", args: ["log"] }],
    [{ args: ["log", "-1"] }],
    [{ args: [] }],
    [{ args: ["Log"] }],
    [{ args: ["log"], cwd: "/b" }],
  ])("is refused when the next entry is %o, which stays the next", (over) => {
    const replay = new ProcessReplay("p", [entry(over)]);
    expect(() => replay.use(call)).toThrow(
      /^subprocess tape p: entry 1 is .*, and the replay runs "git" "log" in "\/a"$/,
    );
    expect([replay.unused.length, replay.elapsedMs]).toEqual([1, 0n]);
  });

  test("is refused when nothing is left", () => {
    expect(() => new ProcessReplay("p", []).use(call)).toThrow(
      'subprocess tape p: has no entry left for "git" "log" in "/a"',
    );
  });
});
