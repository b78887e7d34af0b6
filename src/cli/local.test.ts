import { describe, expect, test } from "vitest";
import type { EvalConfigurable } from "../protocol/evals/api.ts";
import { connect } from "../sdk/connect.ts";
import { ConflictError } from "../sdk/errors.ts";
import { defineSuite, type EvalOptions, runSuite } from "../sdk/eval.ts";
import { tempDir } from "../testing/temp-dir.ts";
import { type LocalAgent, type LocalSettings, openLocal } from "./local.ts";

const suite = defineSuite({
  suiteId: "acme.evals.sums",
  tasks: {
    small: { input: { a: 1, b: 2 }, expect: { sum: 3 } },
    large: { input: { a: 1000, b: 1 }, expect: { sum: 1001 } },
  },
});
const sums = "acme.sums";

async function evaluated(agent: LocalAgent, more: Partial<Parameters<typeof runSuite>[2]> = {}, data = tempDir()) {
  const settings: LocalSettings = { data, agents: { [sums]: agent } };
  const local = await openLocal(settings);
  try {
    return await runSuite(connect(local), suite, { agent: sums, ...more });
  } finally {
    await local.close();
  }
}

const adds: LocalAgent = (input) => {
  const { a, b } = input as { a: number; b: number };
  return { sum: a + b };
};

describe("a suite that is defined in code", () => {
  test("has what a host asks for", () => {
    expect(suite).toEqual({
      suiteId: "acme.evals.sums",
      version: "1.0.0",
      modes: ["golden"],
      tasks: [
        {
          taskId: "small",
          input: { a: 1, b: 2 },
          expected: { kind: "golden", match: { strategy: "json-match", value: { sum: 3 } } },
        },
        {
          taskId: "large",
          input: { a: 1000, b: 1 },
          expected: { kind: "golden", match: { strategy: "json-match", value: { sum: 1001 } } },
        },
      ],
    });
  });

  test("takes texts that are contained, and criteria of a judge", () => {
    const { modes, tasks } = defineSuite({
      suiteId: "acme.evals.texts",
      version: "2.0.0",
      tasks: { greet: { input: "hi", expect: "hello" }, write: { input: "x", rubric: ["is short", "is kind"] } },
    });
    expect(modes).toEqual(["golden", "rubric"]);
    expect(tasks.map(({ expected }) => expected)).toEqual([
      { kind: "golden", match: { strategy: "contains", value: "hello" } },
      {
        kind: "rubric",
        rubric: [
          { criterion: "is short", weight: 0.5 },
          { criterion: "is kind", weight: 0.5 },
        ],
      },
    ]);
  });

  test("is refused where a task says neither or both", () => {
    const defined = (task: object) => () => defineSuite({ suiteId: "a.evals.b", tasks: { t: { input: 1, ...task } } });
    expect(defined({})).toThrow("task t needs either expect or rubric");
    expect(defined({ expect: 1, rubric: ["x"] })).toThrow("task t needs either expect or rubric");
  });
});

test("options are those that a host knows", () => {
  const known = (options: EvalOptions): EvalConfigurable => options;
  expect(known({ trials: 2 })).toEqual({ trials: 2 });
});

describe("a suite that is run in this process", () => {
  test("passes an agent that is a function", async () => {
    const result = await evaluated(adds);
    expect(result).toMatchObject({ verdict: "passed", reasons: [], report: { passed: true } });
    expect(result.sentence).toMatch(/^Passed: 2 of 2 tasks/);
  });

  test("fails one that is wrong, and says which task", async () => {
    const result = await evaluated((input) => ({ sum: (input as { a: number }).a + 2 }));
    expect(result).toMatchObject({ verdict: "failed" });
    expect(result.report?.tasks.map(({ taskId, passed }) => [taskId, passed])).toEqual([
      ["small", true],
      ["large", false],
    ]);
  });

  test("counts what the function throws, or returns that is no JSON, as an error and not as an answer", async () => {
    const thrown = await evaluated(() => {
      throw new RangeError("out of sums");
    });
    expect(thrown.report?.figures.errorsByCode).toEqual({ agent_crashed: 2 });
    const nothing = await evaluated(() => undefined);
    expect(nothing.report?.figures.errorsByCode).toEqual({ agent_output_invalid: 2 });
    expect([thrown.verdict, nothing.verdict]).not.toContain("passed");
  });

  test("is kept in the folder, where a later one is compared with it", async () => {
    const data = tempDir();
    const first = await evaluated(adds, {}, data);
    const options = { baselineRunId: first.runId, trials: 2 };
    const second = await evaluated(adds, { options }, data);
    expect(second.report?.baseline?.comparison?.verdict).toBeTypeOf("string");
  });

  test("is cancelled when its caller aborts it", async () => {
    const stop = new AbortController();
    const heard: boolean[] = [];
    const waits: LocalAgent = (_, { signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => heard.push(true));
        stop.abort(new Error("enough"));
      });
    await expect(evaluated(waits, { signal: stop.signal })).rejects.toThrow("enough");
    expect(heard).toContain(true);
  });

  test("is refused with another content under the same version, once it was kept", async () => {
    const data = tempDir();
    await evaluated(adds, {}, data);
    const local = await openLocal({ data, agents: { [sums]: adds } });
    const changed = { ...suite, tasks: suite.tasks.slice(1) };
    const error = await runSuite(connect(local), changed, { agent: sums }).catch((one: unknown) => one);
    await local.close();
    expect(error).toBeInstanceOf(ConflictError);
  });
});
