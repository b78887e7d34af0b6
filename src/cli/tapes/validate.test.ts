import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { mutated } from "../../testing/random-tapes.ts";
import { pick, randomFrom } from "../../testing/random-workflow.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { aRecord, aRow, aSidecarHeader, aTapeHeader, sidecarText, tapeText } from "../../testing/tape-files.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

const TAPE = tapeText({ header: aTapeHeader(), records: [aRecord({ seq: 0n }), aRecord({ seq: 1n })] });
const GOOD = sidecarText({ header: aSidecarHeader(), rows: [aRow({ id: "a" }), aRow({ id: "b", event_id: 1n })] });
const BAD = sidecarText({
  header: aSidecarHeader(),
  rows: [aRow({ id: "a" }), aRow({ id: "100%,\nx:y", event_id: 7n }), aRow({ id: "a", kind: "friction" })],
});
const GOOD_REPORT = `{
  "annotations_checked": 2,
  "problems": [],
  "kind_counts": {
    "note": 2
  }
}`;

/** Runs `tape validate` on files with these contents. */
async function validate(sidecar: string, { tape = TAPE, flags = [] as string[] } = {}) {
  const dir = tempDir();
  const files = { tape: join(dir, "run.tape"), sidecar: join(dir, "run.tape.annotations.jsonl") };
  writeFileSync(files.tape, tape);
  writeFileSync(files.sidecar, sidecar);
  return {
    ...files,
    dir,
    ...(await assay("--tape", files.tape, ...flags.map((flag) => flag.replace("DIR", dir)), files.sidecar)),
  };
}

async function assay(...argv: string[]) {
  const io = recordedIo();
  const code = await main(["tape", "validate", ...argv], { io, env: {}, cwd: tempDir() });
  return { code, out: io.outText(), err: io.errLines };
}

describe("validating a sidecar", () => {
  test("prints the report and a line feed, and is fine without problems", async () => {
    expect(await validate(GOOD)).toMatchObject({ code: 0, out: `${GOOD_REPORT}\n`, err: [] });
  });

  test("prints the same with --json", async () => {
    expect(await validate(GOOD, { flags: ["--json"] })).toMatchObject({ code: 0, out: `${GOOD_REPORT}\n`, err: [] });
  });

  test("exits with 2 when there are problems", async () => {
    const { code, out, err } = await validate(BAD);
    expect({ code, err }).toEqual({ code: 2, err: [] });
    expect(JSON.parse(out)).toEqual({
      annotations_checked: 3,
      problems: [
        { code: "unknown_event_id", annotation_id: "100%,\nx:y", event_id: 7 },
        { code: "duplicate_id", annotation_id: "a" },
        { code: "friction_kind_missing", annotation_id: "a" },
      ],
      kind_counts: { friction: 1, note: 2 },
    });
  });

  test("writes the report to a file without a line feed, and makes its directories", async () => {
    const { dir, ...rest } = await validate(GOOD, { flags: ["--report", "DIR/new/deep/report.json"] });
    const file = join(dir, "new/deep/report.json");
    expect(rest).toMatchObject({
      code: 0,
      out: "",
      err: [`[assay] annotations validation: checked=2 problems=0 (${file})`],
    });
    expect(readFileSync(file, "utf8")).toBe(GOOD_REPORT);
    expect(readdirSync(join(dir, "new/deep"))).toEqual(["report.json"]);
  });

  test("says in which file the report could not be written, and exits with 1", async () => {
    const { dir, code, out, err } = await validate(BAD, { flags: ["--report", "DIR/run.tape/report.json"] });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toEqual([expect.stringMatching(/^error: write .*run\.tape\/report\.json: /)]);
    expect(readFileSync(join(dir, "run.tape"), "utf8")).toBe(TAPE);
  });
});

describe("a report that would take the place of what it is about", () => {
  test.each(["run.tape", "run.tape.annotations.jsonl"])("is refused: %s", async (name) => {
    const { dir, code, out, err } = await validate(GOOD, { flags: ["--report", `DIR/./${name}`] });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toEqual([expect.stringContaining("--report would replace")]);
    expect(readFileSync(join(dir, name), "utf8")).toBe(name === "run.tape" ? TAPE : GOOD);
  });
});

describe("a file that does not load", () => {
  const broken = `${sidecarText({ header: aSidecarHeader(), rows: [] })}# a comment\nbroken\n`;

  test("is an error that names file and line, with exit code 1 and no report", async () => {
    const { dir, sidecar, code, out, err } = await validate(broken, { flags: ["--report", "DIR/report.json"] });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toEqual([expect.stringContaining(`error: load annotations ${sidecar}: parse annotation at line 3 in`)]);
    expect(existsSync(join(dir, "report.json"))).toBe(false);
  });

  test("is the error object of every command with --json", async () => {
    const { sidecar, code, out, err } = await validate(broken, { flags: ["--json"] });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(JSON.parse(err[0] ?? "")).toEqual({
      error: "record_parse",
      message: expect.stringContaining(`load annotations ${sidecar}: parse annotation at line 3 in`),
      details: { path: sidecar, line: 3 },
    });
  });

  test("is the tape rather than the sidecar when both are broken", async () => {
    const { tape, err } = await validate(broken, { tape: "" });
    expect(err).toEqual([`error: load tape ${tape}: empty tape file: ${tape}`]);
  });

  test("may not be there at all, or be a directory", async () => {
    const dir = tempDir();
    mkdirSync(join(dir, "folder"));
    writeFileSync(join(dir, "run.tape"), TAPE);
    expect(await assay("--tape", join(dir, "none"), join(dir, "none"))).toMatchObject({
      code: 1,
      err: [expect.stringMatching(/^error: load tape .*none: read .*none: ENOENT/)],
    });
    expect(await assay("--tape", join(dir, "run.tape"), join(dir, "folder"))).toMatchObject({
      code: 1,
      err: [expect.stringMatching(/^error: load annotations .*folder: read .*folder: EISDIR/)],
    });
  });
});

describe("problems for a GitHub workflow", () => {
  test("are commands at their lines, with nothing in them that ends a command", async () => {
    const { sidecar, code, out } = await validate(BAD, { flags: ["--format", "github"] });
    const file = sidecar.replaceAll(":", "%3A").replaceAll(",", "%2C");
    expect(code).toBe(2);
    expect(out.split("\n")).toEqual([
      `::error file=${file},line=3,title=unknown_event_id::100%25,%0Ax:y: the tape has no event 7; set event_id to the seq of a record`,
      expect.stringContaining(`::error file=${file},line=4,title=duplicate_id::a: this id is taken`),
      expect.stringContaining(`::error file=${file},line=4,title=friction_kind_missing::a: `),
      "",
    ]);
  });

  test("include a file that does not load, on both streams", async () => {
    const { sidecar, code, out, err } = await validate("", { flags: ["--format", "github"] });
    expect(code).toBe(1);
    expect(err).toEqual([
      `error: load annotations ${sidecar}: empty annotation file: ${sidecar} (expected a header on line 1)`,
    ]);
    expect(out).toBe(`::error file=${sidecar},line=1,title=empty_file::${err[0]?.slice("error: ".length)}\n`);
  });

  test("leave the report to --report", async () => {
    const flags = ["--format", "github", "--report", "DIR/report.json"];
    const { dir, out, err } = await validate(BAD, { flags });
    expect(out).toMatch(/^::error /);
    expect(err).toEqual([`[assay] annotations validation: checked=3 problems=3 (${join(dir, "report.json")})`]);
    expect(JSON.parse(readFileSync(join(dir, "report.json"), "utf8"))).toMatchObject({ annotations_checked: 3 });
  });
});

describe("problems as SARIF", () => {
  test("are results with rule, line and file", async () => {
    const { sidecar, code, out } = await validate(BAD, { flags: ["--format", "sarif"] });
    const log = JSON.parse(out);
    const [run] = log.runs;
    expect(code).toBe(2);
    expect(log).toMatchObject({ version: "2.1.0", $schema: expect.stringContaining("sarif-2.1.0") });
    expect(run.tool.driver.name).toBe("Assay");
    expect(run.invocations).toEqual([{ executionSuccessful: true }]);
    expect(run.results.map((result: { ruleId: string }) => result.ruleId)).toEqual([
      "unknown_event_id",
      "duplicate_id",
      "friction_kind_missing",
    ]);
    for (const { ruleId, ruleIndex } of run.results) expect(run.tool.driver.rules[ruleIndex].id).toBe(ruleId);
    expect(run.results[0]).toMatchObject({
      level: "error",
      message: { text: expect.stringContaining("the tape has no event 7") },
      locations: [
        {
          physicalLocation: { artifactLocation: { uri: pathToFileURL(sidecar).href }, region: { startLine: 3 } },
        },
      ],
    });
  });

  test("are an empty list when there are none", async () => {
    const { code, out } = await validate(GOOD, { flags: ["--format", "sarif"] });
    expect({ code, results: JSON.parse(out).runs[0].results }).toEqual({ code: 0, results: [] });
  });

  test("include a tape that does not load, with a rule of its own", async () => {
    const { tape, code, out } = await validate(GOOD, { tape: `${TAPE}x\n`, flags: ["--format", "sarif"] });
    const [run] = JSON.parse(out).runs;
    expect(code).toBe(1);
    expect(run.invocations).toEqual([{ executionSuccessful: false }]);
    expect(run.results).toMatchObject([
      {
        ruleId: "tape_record_parse",
        locations: [
          { physicalLocation: { artifactLocation: { uri: pathToFileURL(tape).href }, region: { startLine: 4 } } },
        ],
      },
    ]);
    expect(run.tool.driver.rules[run.results[0].ruleIndex].id).toBe("tape_record_parse");
  });
});

describe("problems as text", () => {
  test("are one line each that says where and what to do, and how many there are", async () => {
    const { sidecar, code, out } = await validate(BAD, { flags: ["--format", "text"] });
    expect(code).toBe(2);
    expect(out.split("\n")).toEqual([
      `${sidecar}:3: unknown_event_id: 100%, x:y: the tape has no event 7; set event_id to the seq of a record`,
      `${sidecar}:4: duplicate_id: a: this id is taken by an earlier line; give the annotation an id of its own`,
      expect.stringContaining(`${sidecar}:4: friction_kind_missing: a: a friction annotation needs a friction_kind (`),
      `${sidecar}: 3 annotations checked, 3 problems`,
      "",
    ]);
  });

  test("are none when there are none", async () => {
    const { sidecar, code, out } = await validate(GOOD, { flags: ["--format", "text"] });
    expect({ code, out }).toEqual({ code: 0, out: `${sidecar}: 2 annotations checked, no problems\n` });
  });
});

describe("a call that cannot be meant", () => {
  test.each([
    ["no tape", ["s.jsonl"], /--tape/],
    ["a format nobody knows", ["--tape", "t", "--format", "xml", "s.jsonl"], /report, github, sarif, text/],
    ["--json with another format", ["--json", "--tape", "t", "--format", "text", "s.jsonl"], /--json .*--format/],
  ])("is refused: %s", async (_, argv, complaint) => {
    const { code, out, err } = await assay(...argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err.join()).toMatch(complaint);
  });
});

/** `FUZZ_FILES=100000 FUZZ_SEED=1 npx vitest run src/cli/tapes/tape-validate-hostile.test.ts` takes its time. */
const FILES = Number(process.env["FUZZ_FILES"] ?? 100);
const FIRST_SEED = Number(process.env["FUZZ_SEED"] ?? 1);

const VECTORS = fileURLToPath(new URL("../../../test/tapes/vectors", import.meta.url));
const CASES = readdirSync(VECTORS)
  .map((name) => ({
    tape: join(VECTORS, name, "run.tape"),
    sidecar: join(VECTORS, name, "run.tape.annotations.jsonl"),
  }))
  .filter(({ tape, sidecar }) => existsSync(tape) && existsSync(sidecar))
  .map(({ tape, sidecar }) => ({ tape: readFileSync(tape), sidecar: readFileSync(sidecar) }));

describe("files that somebody has damaged", () => {
  test("give a report or an error with its file and code, and nothing is written then", { timeout: 0 }, async () => {
    const dir = tempDir();
    const [tape, sidecar, report] = ["run.tape", "run.jsonl", "report.json"].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ];
    const counts: Record<string, number> = {};
    for (let seed = FIRST_SEED; seed < FIRST_SEED + FILES; seed++) {
      const random = randomFrom(seed);
      const files = pick(random, CASES);
      writeFileSync(tape, random() < 0.5 ? mutated(files.tape, random) : files.tape);
      writeFileSync(sidecar, random() < 0.7 ? mutated(files.sidecar, random) : files.sidecar);
      const format = pick(random, [["--json"], ["--format", "github"], ["--format", "sarif"], ["--format", "text"]]);
      const withReport = random() < 0.3 ? ["--report", report] : [];
      rmSync(report, { force: true });
      const io = recordedIo();
      const argv = ["tape", "validate", ...format, ...withReport, "--tape", tape, sidecar];
      const code = await main(argv, { io, env: {}, cwd: dir });

      expect(code, `seed ${seed}`).toBeLessThanOrEqual(2);
      expect(existsSync(report), `seed ${seed}`).toBe(withReport.length > 0 && code !== 1);
      if (format.includes("sarif")) expect(JSON.parse(io.outText()), `seed ${seed}`).toHaveProperty("runs");
      if (code === 1) {
        const [line = "", ...more] = io.errLines;
        const text = format.includes("--json") ? `error: ${JSON.parse(line).message}` : line;
        expect({ text, more }, `seed ${seed}`).toEqual({
          text: expect.stringMatching(/^error: load (tape|annotations) .*run\./s),
          more: [],
        });
        expect(text).not.toMatch(/\n\s+at /);
      }
      counts[code] = (counts[code] ?? 0) + 1;
    }
    if (process.env["FUZZ_FILES"] !== undefined)
      console.log(`seeds ${FIRST_SEED} to ${FIRST_SEED + FILES - 1}`, counts);
    // Both are only worth something when the damage is neither always fatal nor never.
    expect(counts[1]).toBeGreaterThan(FILES / 10);
    expect((counts[0] ?? 0) + (counts[2] ?? 0)).toBeGreaterThan(FILES / 10);
  });
});
