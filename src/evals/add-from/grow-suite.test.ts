import { describe, expect, test } from "vitest";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { goldenTask, suiteOf } from "../../testing/eval-bench.ts";
import { loadSuite } from "../suite/load-suite.ts";
import { expectedOf } from "./expected-of.ts";
import { grownText, growSuite, nextVersion } from "./grow-suite.ts";

const SUITE = suiteOf([goldenTask("first", { q: 1 }, "one"), goldenTask("second", { q: 2 }, "two")]);
const DRAFT = { name: "run-1", ...without(goldenTask("x", { q: 3 }, "three")) };

function without({ taskId: _, ...task }: ReturnType<typeof goldenTask>) {
  const answer = task.expected.kind === "golden" ? task.expected.match.value : null;
  return { ...task, answer };
}

describe("a suite with one more task", () => {
  test("is a new version, and the one before stays as it is", () => {
    const before = JSON.stringify(SUITE);
    const { suite, task } = growSuite(SUITE, DRAFT);
    expect(suite).toMatchObject({ suiteId: SUITE.suiteId, version: "1.1.0" });
    expect(suite.tasks).toEqual([...SUITE.tasks, task]);
    expect(task.taskId).toBe("run-1");
    expect(JSON.stringify(SUITE)).toBe(before);
  });
  test("is above every version there is", () => {
    expect(growSuite(SUITE, DRAFT, { highest: "1.9.4" }).suite.version).toBe("1.10.0");
    expect(nextVersion(["2.0.0", "10.0.1"])).toBe("10.1.0");
  });
  test("can be run: a suite of rubrics alone gets the mode for it", () => {
    const rubrics: AgentEvalSuite = {
      ...SUITE,
      modes: ["rubric"],
      tasks: [{ taskId: "r", input: 1, expected: { kind: "rubric", rubric: [{ criterion: "kind", weight: 1 }] } }],
    };
    const { suite } = growSuite(rubrics, DRAFT);
    expect(suite.modes).toEqual(["rubric", "golden"]);
    expect(loadSuite(Buffer.from(JSON.stringify(suite))).ok).toBe(true);
  });
  test("is refused when it asks and expects what it has, in whatever order it is written", () => {
    const twin = { name: "again", ...without(goldenTask("x", { q: 2 }, "two")) };
    expect(() => growSuite(SUITE, twin)).toThrow(/task second of the suite asks and expects the same/);
    const object = { ...SUITE, tasks: [goldenTask("o", { a: 1, b: 2 }, "x")] };
    const turned = { name: "again", ...without(goldenTask("x", { b: 2, a: 1 }, "x")) };
    expect(() => growSuite(object, turned)).toThrow(/task o/);
  });
  test("is told of where another task asks the same and expects something else", () => {
    const contrary = { name: "other", ...without(goldenTask("x", { q: 2 }, "deux")) };
    expect(growSuite(SUITE, contrary).notes).toEqual([expect.stringContaining("Task second asks the same")]);
    const looser: AgentEvalSuite = {
      ...SUITE,
      tasks: [
        { taskId: "l", input: { q: 2 }, expected: { kind: "golden", match: { strategy: "contains", value: "eux" } } },
      ],
    };
    expect(growSuite(looser, contrary).notes).toEqual([]);
  });
  test("takes a free name of its own, and only a free one of somebody else's", () => {
    expect(growSuite(SUITE, { ...DRAFT, name: "first" }).task.taskId).toBe("first-2");
    expect(growSuite(SUITE, { ...DRAFT, name: "Ünruly Näme!" }).task.taskId).toMatch(/^[a-z0-9][a-z0-9-]*$/);
    expect(growSuite(SUITE, DRAFT, { taskId: "mine" }).task.taskId).toBe("mine");
    expect(() => growSuite(SUITE, DRAFT, { taskId: "first" })).toThrow(/has a task first/);
  });
});

describe("the text of a suite with one more task", () => {
  const TEXT = `{
    "suiteId": "${SUITE.suiteId}",   "modes": ["golden"],
    "tasks": [
      { "taskId": "first", "input": { "q": "a } or \\" { " }, "expected": { "kind": "golden", "match": { "strategy": "exact", "value": "one" } } }
    ],
    "version": "1.0.0"
}
`;
  const suite = JSON.parse(TEXT) as AgentEvalSuite;

  test("is the author's own but for the version and the task", () => {
    const grown = growSuite(suite, DRAFT);
    const text = grownText(TEXT, grown.suite, [grown.task]);
    expect(JSON.parse(text)).toEqual(grown.suite);
    const kept = TEXT.split("\n").filter((line) => !line.includes("version") && !line.includes("taskId"));
    for (const line of kept) expect(text.split("\n")).toContain(line);
    expect(text).toContain('"version": "1.1.0"');
    expect(text).toContain('\n      {\n        "taskId": "run-1"');
  });
  test("is written anew where more has changed than that", () => {
    const grown = growSuite({ ...suite, modes: ["golden", "adversarial"] }, DRAFT);
    expect(grownText(TEXT, grown.suite, [grown.task])).toBe(`${JSON.stringify(grown.suite, null, 2)}\n`);
  });
  test("says what it should for one line, for names with escapes and for a task in between two versions", () => {
    for (const text of [
      JSON.stringify(suite),
      JSON.stringify(suite).replace('"version"', '"\\u0076ersion"'),
      JSON.stringify(Object.fromEntries(Object.entries(suite).reverse()), null, "\t"),
    ]) {
      const grown = growSuite(JSON.parse(text) as AgentEvalSuite, DRAFT);
      expect(JSON.parse(grownText(text, grown.suite, [grown.task]))).toEqual(grown.suite);
    }
  });
});

describe("what a correction expects", () => {
  const of = (correction: string, ...outputs: unknown[]) => expectedOf(correction, outputs);

  test("is the text, where the agent answers texts", () => {
    expect(of("Wien", "Vienna").match).toEqual({ strategy: "exact", value: "Wien" });
    expect(of("42", "41").match).toEqual({ strategy: "exact", value: "42" });
    expect(of("Wien").match).toEqual({ strategy: "exact", value: "Wien" });
  });
  test("is what the text says, where the agent answers JSON", () => {
    expect(of('{ "city": "Wien" }', { city: "Vienna" })).toEqual({
      match: { strategy: "json-match", value: { city: "Wien" } },
      answer: { city: "Wien" },
    });
    expect(of("42", 41).match).toEqual({ strategy: "json-match", value: 42 });
  });
  test("is what the text says, and answered as a text, where the agent answers JSON in a text", () => {
    expect(of('{ "city": "Wien" }', '{"city":"Vienna"}')).toEqual({
      match: { strategy: "json-match", value: { city: "Wien" } },
      answer: '{ "city": "Wien" }',
    });
    expect(of('{"a":1}').match.strategy).toBe("json-match");
  });
  test("is refused where the agent answers JSON and it is none", () => {
    expect(() => of("it should be Wien", { city: "Vienna" })).toThrow(/correct it with the whole answer/);
  });
});
