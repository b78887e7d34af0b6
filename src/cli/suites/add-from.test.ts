import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { EvalDesk } from "../../testing/eval-command.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { aRow, aSidecarHeader, aTape, sidecarText, tapeText } from "../../testing/tape-files.ts";
import { main } from "../main.ts";

const read = (path: string) => readFileSync(path, "utf8");

/** A desk on which an agent was evaluated that gets one task wrong. */
async function evaluated() {
  const desk = new EvalDesk();
  const suite = desk.file("suite.json", suiteOf([goldenTask("right", "a"), goldenTask("wrong", "b")]));
  const agents = desk.agents({ right: { output: "a" }, wrong: { output: "?" } });
  const { out } = await desk.eval("run", suite, ...agents);
  const runId = /run-[0-9a-z]+/.exec(out)?.[0] ?? "";
  const assay = async (...argv: string[]) => {
    const io = recordedIo();
    const data = ["--data", join(desk.folder, "data")];
    const code = await main([...argv, ...data], { io, env: {}, cwd: desk.folder });
    return { code, out: io.outText(), err: io.errLines.join("\n") };
  };
  return { desk, suite, runId, assay };
}

describe("assay eval override", () => {
  test("shows overrides next to the result of the evaluation", async () => {
    const { runId, assay } = await evaluated();
    const { code, out, err } = await assay("eval", "override", runId, "wrong", "pass", "--note", "as good");
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(/wrong: 0 → 1.*\n.*score 0\.5 → 1, the suite's bars not met → met/),
    });
    expect(out).toMatch(/^ann-[0-9a-z]+\n$/);
    expect((await assay("eval", "override", runId, "right", "--flag")).code).toBe(0);
    const shown = await assay("eval", "show", runId);
    expect(shown.out).toMatch(/What people say\n {2}✓ wrong: 0 → 1 by .+\n {2}\? right: disputed flag by /);
    expect(shown.out).toMatch(/✗ Failed: 1 of 2 tasks passed/);
    const { report } = JSON.parse((await assay("eval", "show", runId, "--json")).out);
    expect(report).toMatchObject({ passed: false, override: { passed: true, aggregateScore: 1 } });
  });

  test("refuses an override that is not one verdict about a task that has a score", async () => {
    const { runId, assay } = await evaluated();
    const of = (...argv: string[]) => assay("eval", "override", ...argv);
    expect(await of(runId, "wrong")).toMatchObject({ code: 2, err: expect.stringContaining("give one of") });
    expect(await of(runId, "wrong", "pass", "--flag")).toMatchObject({ code: 2 });
    expect(await of(runId, "wrong", "good")).toMatchObject({ code: 2, err: expect.stringContaining("pass or fail") });
    expect(await of(runId, "none", "pass")).toMatchObject({ code: 2, err: expect.stringContaining("no scored task") });
  });
});

describe("assay suite add-from", () => {
  test("adds a task to a file under a new version, with the proof and the link", async () => {
    const { suite, runId, assay } = await evaluated();
    await assay("eval", "override", runId, "wrong", "--correction", "better");
    const before = read(suite);
    const checked = await assay("suite", "add-from", runId, "--to", suite, "--check");
    expect(checked).toMatchObject({ code: 0, out: expect.stringContaining("Nothing was written") });
    expect(read(suite)).toBe(before);

    const { code, out } = await assay("suite", "add-from", runId, "--to", suite, "--task-id", "mine");
    expect(code).toBe(0);
    expect(out).toMatch(
      /Task mine from run-\S+\n {2}fails {2}on the recorded answer\n(?: {6}.*\n)+ {2}passes on the correction\n/,
    );
    expect(JSON.parse(read(suite))).toMatchObject({
      version: "1.1.0",
      tasks: [{}, {}, { taskId: "mine", input: "b", expected: { match: { strategy: "exact", value: "better" } } }],
    });
    const link = JSON.parse(read(`${suite}.links.jsonl`));
    expect(link).toMatchObject({ taskId: "mine", version: "1.1.0", runId });
    const links = await assay("suite", "links", "--run", runId, "--json");
    expect(JSON.parse(links.out)).toEqual({ links: [link] });
  });

  test("refuses, shows why, and leaves the file alone", async () => {
    const { suite, runId, assay } = await evaluated();
    const before = read(suite);
    const add = (...more: string[]) => assay("suite", "add-from", runId, "--to", suite, ...more);
    expect(await add()).toMatchObject({ code: 2, err: expect.stringContaining("this run has no correction") });
    await assay("eval", "override", runId, "wrong", "--correction", "?");
    const { code, err } = await add();
    expect(code).toBe(2);
    expect(err).toMatch(/passes on the recorded answer\n.*passes on the correction\n.*the recorded answer passes it/);
    expect(await add("--id", "local.test.evals.x")).toMatchObject({
      code: 2,
      err: expect.stringContaining("leave out --id"),
    });
    expect(await assay("suite", "add-from", runId, "--to", "new.json")).toMatchObject({ code: 2 });
    expect(await assay("suite", "add-from")).toMatchObject({ code: 2, err: expect.stringContaining("name the run") });
    expect(read(suite)).toBe(before);
    expect(existsSync(`${suite}.links.jsonl`)).toBe(false);
  });

  test("makes tasks of a tape and its sidecar without a server", async () => {
    const desk = new EvalDesk();
    const response = (text: string) => ({ content_hash: "", text });
    const tape = aTape(
      { kind: "llm_call", request_digest: "x", response: response("Vienna") },
      { kind: "llm_call", request_digest: "y", response: response("Wien") },
    );
    const author = { id: "ines", kind: "human", surface: null } as const;
    const rows = [
      aRow({ id: "a", event_id: 0n, kind: "alternative", suggested_fix: "Wien", author }),
      aRow({ id: "b", event_id: 1n, kind: "correct", author }),
    ];
    const file = desk.file("a.tape", tapeText(tape));
    const sidecar = desk.file("rows.jsonl", sidecarText({ header: aSidecarHeader(), rows }));
    const suite = join(desk.folder, "suite.json");
    const assay = async (...argv: string[]) => {
      const io = recordedIo();
      const code = await main(["suite", "add-from", "--tape", file, ...argv], { io, env: {}, cwd: desk.folder });
      return { code, out: io.outText(), err: io.errLines.join("\n") };
    };
    const begun = await assay(sidecar, "--to", suite, "--id", "local.test.evals.tape");
    expect(begun, begun.err).toMatchObject({
      code: 0,
      out: expect.stringContaining("local.test.evals.tape@0.1.0, 2 tasks"),
    });
    expect(JSON.parse(read(suite)).tasks.map((task: { expected: unknown }) => task.expected)).toEqual([
      { kind: "golden", match: { strategy: "exact", value: "Wien" } },
      { kind: "golden", match: { strategy: "exact", value: "Wien" } },
    ]);
    expect(
      read(`${suite}.links.jsonl`)
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).row),
    ).toEqual(["a", "b"]);
    const before = read(suite);
    expect(await assay(sidecar, "--to", suite)).toMatchObject({
      code: 2,
      err: expect.stringContaining("the same already"),
    });
    const stale = desk.file(
      "stale.jsonl",
      sidecarText({ header: aSidecarHeader({ tape_content_hash: "0".repeat(64) }), rows }),
    );
    expect(await assay(stale, "--to", suite)).toMatchObject({ code: 2, err: expect.stringContaining("does not fit") });
    expect(await assay(sidecar)).toMatchObject({ code: 2, err: expect.stringContaining("--to SUITE.json") });
    expect(read(suite)).toBe(before);
  });
});
