import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JudgeInput, JudgeOutput } from "../../protocol/evals/judge-api.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { CalibrationBench, judgedSuite, judgedTask, politeSuite } from "../../testing/calibration-bench.ts";
import { EvalDesk, type Ran } from "../../testing/eval-command.ts";
import { KEYS, type Who } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

async function assay(argv: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const io = recordedIo();
  const code = await main(argv, { io, env, cwd: tempDir() });
  return { code, out: io.outText(), err: io.errLines.join("\n") };
}

const HASH = "0".repeat(64);
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** A tape of as many answers, every other one of which says please; people find those right but for the first few. */
function tapeOn(desk: EvalDesk, answers: number, differing: number): string {
  const all = Array.from({ length: answers }, (_, i) => i);
  desk.file(
    "a.tape.annotations.jsonl",
    lines([
      { type: "header", schema_version: 1 },
      ...all.map((i) => {
        const kind = (i % 2 === 0) === i >= differing ? "correct" : "incorrect";
        return { type: "annotation", id: `r${i}`, event_id: i, kind, author: { id: "ana", kind: "human" } };
      }),
    ]),
  );
  const record = (seq: number) => ({
    type: "record",
    seq,
    virtual_time_ms: 1,
    monotonic_ms: 1,
    kind: {
      kind: "llm_call",
      request_digest: HASH,
      response: { content_hash: HASH, text: `${seq % 2 === 0 ? "please" : "now"} ${seq}` },
    },
  });
  return desk.file("a.tape", lines([{ type: "header", version: 1, harn_version: "1.0" }, ...all.map(record)]));
}

/** A scripted judge: it searches for the word. */
function agentsOn(desk: EvalDesk): string {
  const verdict = (met: boolean) => ({ output: { criteria: [{ number: 1, met, evidence: "the word" }] } });
  const script = { byInput: [{ contains: '"output":"please', answer: verdict(true) }], default: verdict(false) };
  return desk.file("agents.json", { judge: { type: "scripted", script } });
}

describe("assay judge without a server", () => {
  test("compares the judge of the agents file with a sidecar, and keeps the certificate", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", politeSuite("taped", 2));
    // The database of a folder comes to be with its first evaluation.
    expect((await desk.eval("run", suite, "--command", "cat", "--agents", agentsOn(desk))).code).toBe(1);
    const here = ["--data", join(desk.folder, "data"), "--agents", agentsOn(desk)];
    const calibrate = ["judge", "calibrate", suite, "--tape", tapeOn(desk, 60, 6), ...here];
    const done = await assay(calibrate);
    expect(done, done.err).toMatchObject({ code: 0, out: expect.stringContaining("✓ The judge is certified.") });
    expect(done.out).toMatch(/people: fail +27 +3\npeople: pass +3 +27/);
    expect(done.out).toContain("Agreement    54 of 60 outputs, 0.9");
    const id = /cert-\w+/.exec(done.out)?.[0] ?? "";
    const listed = await assay(["judge", "list", ...here]);
    expect(listed.out).toMatch(new RegExp(`${id} .* 60 +0\\.8 .* yes`));
    expect((await assay(["judge", "show", id, ...here])).out).toBe(done.out);
    const without = await assay(["judge", "show", id, ...here.slice(0, 2)]);
    expect(without).toMatchObject({ code: 1, out: expect.stringContaining("No judge is configured here.") });
    const ran = await desk.eval("run", suite, "--command", "cat", "--agents", agentsOn(desk), "--require-certificate");
    expect(ran.out).toMatch(/Judge +scripted, certified, kappa 0\.8\nWithout its errors +0\.5 pass/);
    const worse = await assay([...calibrate.slice(0, 4), tapeOn(desk, 61, 30), ...here, "--json"]);
    expect(worse.code).toBe(1);
    expect(JSON.parse(worse.out)).toMatchObject({ valid: false, problems: [{ code: "kappa_too_low" }] });
    const refused = await desk.eval(
      "run",
      suite,
      "--command",
      "cat",
      "--agents",
      agentsOn(desk),
      "--require-certificate",
    );
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining("The judge is not certified: Its kappa is"),
    });
  });

  test("names the missing judgment, tape or judge, and keeps nothing", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", politeSuite("taped", 2));
    await desk.eval("run", suite, "--command", "cat", "--agents", agentsOn(desk));
    const here = ["--data", join(desk.folder, "data")];
    const calibrate = (...more: string[]) => assay(["judge", "calibrate", suite, ...more, ...here]);
    expect(await calibrate()).toMatchObject({ code: 2, err: expect.stringContaining("--run RUN, or --tape FILE") });
    const tape = tapeOn(desk, 2, 0);
    expect(await calibrate("--tape", tape)).toMatchObject({ code: 2, err: expect.stringContaining("no judge") });
    expect(await calibrate("--tape", tape, "--sidecar", "x", "--sidecar", "y")).toMatchObject({ code: 2 });
    expect((await calibrate("--tape", join(desk.folder, "none.tape"))).code).toBe(1);
    expect((await calibrate("--run", "run-none", "--agents", agentsOn(desk))).code).toBe(2);
    const mute = desk.file("mute.json", { judge: { type: "scripted", script: { default: { output: "well" } } } });
    expect(await calibrate("--tape", tape, "--agents", mute)).toMatchObject({
      code: 5,
      err: expect.stringContaining("gave no verdict on 2 of 2 outputs"),
    });
    const other = desk.file(
      "other.json",
      judgedSuite("taped", [judgedTask("a", "x"), judgedTask("b", "y", "thanks")], "2.0.0"),
    );
    const unclear = await assay(["judge", "calibrate", other, "--tape", tape, ...here, "--agents", agentsOn(desk)]);
    expect(unclear).toMatchObject({ code: 2, err: expect.stringContaining("name the task whose rubric") });
    expect((await assay(["judge", "list", ...here])).err).toContain("No certificates yet");
    expect((await assay(["judge", "list", "--data", join(desk.folder, "nowhere")])).code).toBe(2);
  });

  test("prints the schemas of the input and output of a judge", async () => {
    const { $schema: _, title: __, ...input } = JSON.parse((await assay(["judge", "schema", "input"])).out);
    expect(input).toEqual(JSON.parse(JSON.stringify(JudgeInput)));
    expect(JSON.parse((await assay(["judge", "schema", "output"])).out)).toMatchObject({
      required: [...(JudgeOutput.required as readonly string[])],
    });
    expect(await assay(["judge", "schema", "toString"])).toMatchObject({ code: 2, out: "" });
  });
});

describe("assay judge with a server", () => {
  let bench: CalibrationBench;
  let url: string;
  beforeAll(async () => {
    bench = await CalibrationBench.on(await openSqliteStore({ path: ":memory:" }));
    url = await bench.host.listen();
  });
  afterAll(() => bench.host.close());
  const there = (argv: readonly string[], who: Who = "owner") =>
    assay(argv, { ASSAY_URL: url, ASSAY_KEY: KEYS[who].key });

  test("compares the judge of the server with judgments recorded there, and not with imported ones", async () => {
    const desk = new EvalDesk();
    const suite = politeSuite("there", 4);
    const file = desk.file("suite.json", suite);
    const runId = await bench.host.evaluate(suite);
    await bench.labelled(runId, 0);
    const calibrate = ["judge", "calibrate", file, "--run", runId, "--tape", tapeOn(desk, 60, 0)];
    expect((await there(calibrate, "viewer")).code).toBe(3);
    const done = await there(calibrate);
    // The rows beside the tape are ana's by the word of the file only.
    expect(done, done.err).toMatchObject({ code: 1, out: expect.stringContaining("4 of 4 outputs") });
    expect(done.out).toContain("Left out     60 that were imported");
    const id = /cert-\w+/.exec(done.out)?.[0] ?? "";
    expect((await there(["judge", "show", id])).out).toBe(done.out);
    expect((await there(["judge", "list", "--suite", suite.suiteId])).out).toContain(id);
    expect((await there(["judge", "show", id], "other")).code).toBe(2);
  });
});

const page = readFileSync(new URL("../../../docs/formats/judge.md", import.meta.url), "utf8");

describe("docs/formats/judge.md", () => {
  test.each([
    ["input", JudgeInput],
    ["output", JudgeOutput],
  ])("has the current schema of the %s", (which, schema) => {
    const part = page.split(`<!-- ${which} -->\n\`\`\`json\n`)[1]?.split(`\n\`\`\`\n<!-- /${which} -->`)[0] ?? "null";
    expect(JSON.parse(part)).toEqual(JSON.parse(JSON.stringify(schema)));
  });
});
