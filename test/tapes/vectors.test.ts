import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/cli/main.ts";
import { recordedIo } from "../../src/testing/recorded-io.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay } from "../cli/assay.ts";
import { CASES, type Case, type Step, type StepError } from "./cases.ts";

const here = process.cwd();
let stepsRun = 0;

afterEach(() => process.chdir(here));

interface Result {
  readonly exit: number;
  readonly out: string;
  readonly err: readonly string[];
}

/** In the directory of the case, as somebody would type it there. */
async function run(...argv: readonly string[]): Promise<Result> {
  const io = recordedIo();
  const exit = await main(argv, { io });
  return { exit, out: io.outText(), err: io.errLines };
}

function bytesOf(name: string | undefined): Buffer {
  return readFileSync(name ?? "");
}

function said(result: Result): Buffer {
  return Buffer.from(result.out, "utf8");
}

/** The same command, once to standard output and once to a file: the bytes are the same. */
async function writes(name: string | undefined, argv: readonly string[], told: readonly string[] = []): Promise<void> {
  const printed = await run(...argv);
  expect(printed).toMatchObject({ exit: 0, err: [] });
  expect(said(printed)).toEqual(bytesOf(name));
  const output = join(tempDir(), "made", "output");
  const written = await run(...argv, "--output", output);
  expect(written).toMatchObject({ exit: 0, out: "", err: told.map((line) => line.replace("<file>", output)) });
  expect(bytesOf(output)).toEqual(bytesOf(name));
}

async function fails({ code, line, message, message_prefix }: StepError, argv: readonly string[]): Promise<void> {
  const result = await run(...argv);
  expect(result).toMatchObject({ exit: 1, out: "" });
  expect(result.err).toHaveLength(1);
  if (message !== undefined) expect(result.err).toEqual([message]);
  else expect(result.err[0]?.slice(0, message_prefix?.length)).toBe(message_prefix);

  const inJson = await run(...argv, "--json");
  expect(inJson).toMatchObject({ exit: 1, out: "" });
  expect(JSON.parse(inJson.err[0] ?? "")).toMatchObject({
    error: code,
    message: result.err[0]?.replace(/^error: /, ""),
    details: line === undefined ? {} : { line },
  });
}

async function validates({ tape = "", sidecar = "", exit = -1, report, error }: Step): Promise<void> {
  const argv = ["tape", "validate", "--tape", tape, sidecar];
  if (error) return fails(error, argv);
  const printed = await run(...argv);
  expect(printed.exit).toBe(exit);
  expect(said(printed)).toEqual(Buffer.concat([bytesOf(report), Buffer.from("\n")]));

  const file = join(tempDir(), "made", "report.json");
  const written = await run(...argv, "--report", file);
  const { annotations_checked: checked, problems } = JSON.parse(bytesOf(report).toString("utf8"));
  const summary = `[assay] annotations validation: checked=${checked} problems=${problems.length} (${file})`;
  expect(written).toEqual({ exit, out: "", err: [summary] });
  expect(bytesOf(file)).toEqual(bytesOf(report));
}

async function exports({ sidecar = "", format = "", kinds = [], output, error }: Step): Promise<void> {
  const argv = ["tape", "export", sidecar, "--format", format, ...kinds.flatMap((kind) => ["--kind", kind])];
  if (error) {
    await fails(error, argv);
    const file = join(tempDir(), "output");
    expect((await run(...argv, "--output", file)).exit).toBe(1);
    expect(existsSync(file)).toBe(false);
    return;
  }
  const selected = await run("tape", "export", sidecar, ...kinds.flatMap((kind) => ["--kind", kind]));
  const count = selected.out.split("\n").length - 1;
  await writes(output, argv, [`[assay] exported ${count} annotation(s) to <file> (format=${format})`]);
}

async function shows({ tape = "", sidecar = "", label, output }: Step, { steps }: Case): Promise<void> {
  expect(label).toBe(sidecar);
  const { exit, report } = steps.find(({ op }) => op === "validate") as Step;
  const { problems } = JSON.parse(bytesOf(report).toString("utf8"));
  const hint = `[assay] annotations validation failed with ${problems.length} problem(s); see \`assay tape validate\` for the structured report.`;
  const result = await run("tape", "show", tape, "--annotations", sidecar);
  expect(result).toMatchObject({ exit, err: problems.length === 0 ? [] : [hint] });
  expect(said(result)).toEqual(bytesOf(output));
}

async function suggests({ sidecar = "", options, output, ignore = [] }: Step): Promise<void> {
  const owner = options?.owner ?? undefined;
  const argv = ["tape", "suggest", sidecar, "--min-occurrences", String(options?.min_occurrences), "--json"];
  const result = await run(...argv, ...(owner === undefined ? [] : ["--owner", owner]));
  expect(result).toMatchObject({ exit: 0, err: [] });
  const made = JSON.parse(result.out) as object[];
  // What may differ must be there all the same.
  for (const one of made) for (const path of ignore) expect(one).toHaveProperty(path);
  const expected = JSON.parse(bytesOf(output).toString("utf8")) as object[];
  const without = (values: readonly object[]) => values.map((one) => leavingOut(one, ignore));
  expect(without(made)).toEqual(without(expected));
}

/** Paths are of members, with points between them. */
function leavingOut(value: object, paths: readonly string[]): object {
  const copy = structuredClone(value);
  for (const path of paths) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    const parent = names.reduce((from, name) => from[name] as Record<string, unknown>, copy as Record<string, unknown>);
    delete parent[last];
  }
  return copy;
}

const STEPS: Readonly<Record<string, (step: Step, of: Case) => Promise<void>>> = {
  digest: async ({ tape = "", value }) =>
    expect(await run("tape", "digest", tape)).toEqual({ exit: 0, out: `${value}\n`, err: [] }),
  validate: validates,
  roundtrip: ({ sidecar = "", output }) => writes(output, ["tape", "normalize", sidecar]),
  "tape-roundtrip": ({ tape = "", output }) => writes(output, ["tape", "normalize", tape]),
  export: exports,
  render: shows,
  anchors: async ({ sidecar = "", output }) => {
    const result = await run("tape", "anchors", sidecar, "--json");
    expect(result).toMatchObject({ exit: 0, err: [] });
    expect(JSON.parse(result.out)).toEqual(JSON.parse(bytesOf(output).toString("utf8")));
  },
  suggest: suggests,
};

describe.each(CASES)("the files of $name", (one) => {
  beforeEach(() => process.chdir(one.folder));

  test.each(one.steps.map((step, i) => ({ title: `${i + 1} ${step.op}`, step })))(
    "come out as they must: step $title",
    async ({ step }) => {
      const doStep = STEPS[step.op];
      if (!doStep) throw new Error(`There is no step called ${step.op}.`);
      await doStep(step, one);
      stepsRun++;
    },
  );
});

describe("the program itself", () => {
  const named = (name: string) => CASES.find((one) => one.name === name)?.folder ?? "";

  test("prints the same bytes as its parts, and nothing else", async () => {
    const cwd = named("19-replay-render");
    const { code, stdout, stderr } = await assay(
      ["tape", "show", "run.tape", "--annotations", "run.tape.annotations.jsonl"],
      { cwd },
    );
    expect(stdout).toBe(readFileSync(join(cwd, "render.txt"), "utf8"));
    expect(stderr).toMatch(/^\[assay\] annotations validation failed with \d+ problem\(s\);[^\n]*\n$/);
    expect(code).toBe(2);
  });

  test("names the line of a broken file, and ends with 1", async () => {
    const cwd = named("18-bad-record-line");
    const { code, stdout, stderr } = await assay(["tape", "export", "run.tape.annotations.jsonl"], { cwd });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^error: load annotations run\.tape\.annotations\.jsonl: parse annotation at line 6 [^\n]*\n$/,
    );
  });
});

const ALL_CASES = 25;
const ALL_STEPS = 51;

// The last of the file, since tests run in their order.
describe("the cases", () => {
  test("are all there, and every step of them has been taken", () => {
    expect(CASES).toHaveLength(ALL_CASES);
    expect(stepsRun).toBe(ALL_STEPS);
  });
});
