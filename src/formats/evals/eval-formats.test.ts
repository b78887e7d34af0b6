import { describe, expect, test } from "vitest";
import { matches } from "../../protocol/schema.ts";
import { broken, entryOf, outcomeOf, reportOf, right, wrong } from "../../testing/eval-outcomes.ts";
import { allNamed, readXml } from "../../testing/xml.ts";
import { EvalResultFile, evalJsonText } from "./eval-json.ts";
import type { EvalOutcome } from "./eval-outcome.ts";
import { junitXml } from "./junit.ts";
import { markdownText } from "./markdown.ts";
import { sarifText } from "./sarif.ts";

const HOSTILE = [
  "a & b < c > d \"e\" 'f' ]]> <!-- x --> <script>alert(1)</script>",
  "\u001b[31mred\u001b]0;title\u0007 \u0000 \u0008 \ud800 \uffff \u202egnp",
  "```\n# heading\n| a | b |\n![x](http://evil.example/x.png) [y](javascript:1) @everyone <img src=x>",
  "`` `code` `` ~~~ \\ $x$ https://evil.example www.evil.example",
];
const text = HOSTILE.join("\n");
const difference = { kind: "words", summary: text, before: "", expected: text, output: text, after: "" } as const;

const report = reportOf([
  { taskId: "right", trials: [right()] },
  { taskId: "wrong", trials: [wrong({ output: text, difference })] },
  { taskId: "broken", trials: [broken("agent_crashed", text)] },
  {
    taskId: "found",
    trials: [right({ output: "x" })],
    findings: [{ kind: "data-leak", severity: "critical", by: "secret", trial: 1 }],
  },
]);
const outcome = outcomeOf(report);
/** Names that no suite of ours can have, as a server of somebody else might send them. */
const renamed: EvalOutcome = {
  ...outcome,
  entry: entryOf({ suiteId: text, agentId: text, resolvedAgentVersion: text }),
  report: { ...report, tasks: report.tasks.map((task, i) => ({ ...task, taskId: `${i}${text}` })) },
};
const passed = outcomeOf(reportOf([{ taskId: "right", trials: [right()] }]));

describe("JUnit", () => {
  test("has a case for each task, failures and errors apart", () => {
    const root = readXml(junitXml(outcome));
    expect(root).toMatchObject({ name: "testsuites", attributes: { tests: "4", failures: "2", errors: "1" } });
    const cases = allNamed(root, "testcase");
    expect(cases.map(({ attributes: { name }, children: [child] }) => [name, child?.name])).toEqual([
      ["right", undefined],
      ["wrong", "failure"],
      ["broken", "error"],
      ["found", "failure"],
    ]);
    const types = cases.flatMap(({ children }) => children.map(({ attributes }) => attributes["type"]));
    expect(types).toEqual(["score", "agent_crashed", "finding"]);
    expect(allNamed(root, "property").map(({ attributes }) => attributes["name"])).toContain("verdict");
  });

  test("is well-formed whatever tasks and outputs say", () => {
    const quoting = allNamed(readXml(junitXml(renamed)), "testcase");
    expect(quoting).toHaveLength(4);
    const failure = allNamed(readXml(junitXml(outcome)), "failure")[0];
    expect(failure?.text).toContain(HOSTILE[0]);
    expect(failure?.text).not.toContain("\u001b");
  });

  test("is never all green when the evaluation did not pass", () => {
    const tasks = [{ taskId: "right", trials: [right()] }];
    const dear = outcomeOf(reportOf(tasks, { passed: false, unmet: ["cost"] }));
    const unfinished = outcomeOf(undefined, {}, entryOf({ status: "failed", error: "eval_budget_exceeded" }));
    for (const one of [dear, unfinished]) {
      const root = readXml(junitXml(one));
      expect(root.attributes["errors"]).toBe("1");
      expect(allNamed(root, "error")).toHaveLength(1);
    }
    expect(readXml(junitXml(passed)).attributes).toMatchObject({ tests: "1", failures: "0", errors: "0" });
  });
});

test("what came from the cache is marked in every file, task by task", () => {
  const cached = { cached: true };
  const kept = outcomeOf(
    reportOf([
      { taskId: "right", trials: [right(cached)] },
      { taskId: "wrong", trials: [wrong(cached), wrong()] },
      { taskId: "fresh", trials: [right()] },
    ]),
  );
  const cases = allNamed(readXml(junitXml(kept)), "testcase");
  const marks = cases.map((one) => allNamed(one, "property").map(({ attributes }) => attributes["value"]));
  expect(marks).toEqual([["1"], ["1"], []]);
  expect(cases.map(({ children }) => children.map(({ name }) => name))).toEqual([
    ["properties"],
    ["properties", "failure"],
    [],
  ]);
  const says = "1 of 2 trials from the cache";
  expect(markdownText(kept)).toContain(says);
  expect(markdownText(kept)).toContain("| Trials from the cache | 2 of 4 |");
  const whole = allNamed(readXml(junitXml(kept)), "property").map(
    ({ attributes: { name, value } }) => `${name} ${value}`,
  );
  expect(whole).toContain("cachedTrials 2");
  const [run] = JSON.parse(sarifText(kept, "1")).runs;
  expect(run).toMatchObject({
    properties: { cachedTrials: 2 },
    results: [{ message: { text: expect.stringContaining(says) } }],
  });
  const { report } = JSON.parse(evalJsonText(kept));
  expect(report.tasks.map((task: { readonly cached: number }) => task.cached)).toEqual([1, 1, 0]);
});

test.each([
  ["passed", right],
  ["failed", wrong],
  ["ended in an error", broken],
])("one that was stopped is marked as partial in every file, also when all that was done %s", (_, trial) => {
  const stopped = { status: "failed", error: "eval_budget_exceeded", tasksDone: 1, tasksPlanned: 7 } as const;
  const part = outcomeOf(
    reportOf([{ taskId: "first", trials: [trial()] }], { complete: false, stopped, passed: false, unmet: [] }),
    {},
    entryOf({ status: "failed", error: "eval_budget_exceeded", taskCount: 7 }),
  );
  const junit = readXml(junitXml(part));
  const [verdict] = allNamed(junit, "testcase").filter(({ attributes: { name } }) => name === "verdict");
  expect(verdict?.children).toMatchObject([{ name: "error", attributes: { type: "no_verdict" } }]);
  expect(junit.attributes["tests"]).toBe("2");
  expect(Number(junit.attributes["errors"])).toBe(allNamed(junit, "error").length);
  const marks = allNamed(junit, "property").map(({ attributes: { name, value } }) => `${name} ${value}`);
  expect(marks).toEqual(expect.arrayContaining(["complete false", "tasksDone 1", "tasksPlanned 7"]));
  const [run] = JSON.parse(sarifText(part, "1")).runs;
  expect(run).toMatchObject({
    invocations: [{ executionSuccessful: false, exitCode: 5 }],
    properties: { complete: "false", verdict: "no_verdict" },
  });
  expect(run.results.at(-1)).toMatchObject({ ruleId: "verdict", level: "error" });
  const file = JSON.parse(evalJsonText(part));
  expect(matches(EvalResultFile, file)).toBe(true);
  expect(file).toMatchObject({ passed: false, complete: false, verdict: "no_verdict", report: { complete: false } });
  const md = markdownText(part);
  expect(md).toMatch(/^## ⚠️ /);
  expect(md).toContain("| Partial: tasks done | 1 of 7 |");
  const whole = [junitXml(passed), sarifText(passed, "1"), markdownText(passed)].join("");
  expect(whole).not.toMatch(/Partial|tasksDone/);
});

test("an evaluation that somebody does not let pass has not passed in JSON either, whatever its suite says", () => {
  const conclusion = { ...passed.conclusion, verdict: "failed", exitCode: 1 } as const;
  expect(JSON.parse(evalJsonText(passed))).toMatchObject({ passed: true, report: { passed: true } });
  expect(JSON.parse(evalJsonText({ ...passed, conclusion }))).toMatchObject({
    passed: false,
    report: { passed: true },
  });
});

test("Markdown calls nobody and links nowhere by what others wrote", () => {
  const warnings = ["ask @everyone, see https://evil.example and www.evil.example"];
  const md = markdownText({ ...outcome, conclusion: { ...outcome.conclusion, warnings } });
  expect(md).toContain("@\u200beveryone");
  expect(md).not.toMatch(/- .*(@everyone|https:|www\.)/);
});

describe("what people say of an evaluation", () => {
  const who = { annotationId: "ann-1", by: "rita|`@x`", at: "2027-03-01T12:00:00.000Z" };
  const tasks = [
    { taskId: "right", trials: [right()] },
    { taskId: "wrong", trials: [wrong()] },
    { taskId: "doubtful", trials: [wrong()] },
  ];
  const scored = reportOf(tasks);
  const judged = outcomeOf({
    ...scored,
    override: {
      ...scored.override,
      aggregateScore: 0.667,
      tasks: [
        {
          taskId: "wrong",
          eventId: "evt-1",
          original: { score: 0, passed: false },
          overridden: { score: 1, passed: true },
          ...who,
          adjudicated: true,
          history: [],
        },
      ],
      disputed: [{ taskId: "doubtful", eventId: "evt-2", said: [{ ...who, kind: "flag" }] }],
    },
  });

  test("stands in Markdown beside what was scored, which stays what it was", () => {
    const md = markdownText(judged);
    const before = markdownText(outcomeOf(scored));
    expect(md.startsWith(before.slice(0, before.indexOf("\n\nRun ")))).toBe(true);
    expect(md).toContain("| `wrong` | 0, not passed | 1, passed | `` rita¦`@x` ``, adjudicated |");
    expect(md).toContain("| `doubtful` | | disputed | flag by `` rita¦`@x` `` |");
    expect(md).toContain(
      "Score 0.333, the suite's bars not met; with their scores 0.667, the suite's bars not met. The verdict above is",
    );
    expect(before).not.toContain("What people say");
  });

  test("is marked in JUnit and SARIF, and changes no result in them", () => {
    const junit = readXml(junitXml(judged));
    expect(junit.attributes).toEqual(readXml(junitXml(outcomeOf(scored))).attributes);
    const marks = (node: ReturnType<typeof readXml> | undefined) =>
      node && Object.fromEntries(allNamed(node, "property").map(({ attributes: { name, value } }) => [name, value]));
    expect(marks(junit)).toMatchObject({ overriddenTasks: "1", disputedTasks: "1" });
    const cases = allNamed(junit, "testcase");
    expect(cases.map(marks)).toEqual([{}, { overriddenScore: "1", overriddenPassed: "true" }, { disputed: "true" }]);
    expect(cases[1]?.children.map(({ name }) => name)).toEqual(["properties", "failure"]);
    const [run] = JSON.parse(sarifText(judged, "1")).runs;
    expect(run.properties).toMatchObject({ overriddenTasks: "1", overriddenScore: "0.667", disputedTasks: "1" });
    expect(run.results.map(({ properties }: { properties: object }) => properties)).toEqual([
      { overriddenScore: "1", overriddenPassed: "true" },
      { disputed: "true" },
    ]);
    expect(sarifText(outcomeOf(scored), "1")).not.toMatch(/overridden|disputed/);
  });
});

describe("SARIF", () => {
  const read = (one: EvalOutcome) => JSON.parse(sarifText(one, "1.2.3"));

  test("has a result for what is wrong, with its rule and place", () => {
    const places = new Map([["wrong", { file: "suites/a b.json", line: 7 }]]);
    const log = read({ ...outcome, places });
    expect(log).toMatchObject({ version: "2.1.0", runs: [{ tool: { driver: { name: "assay", version: "1.2.3" } } }] });
    const { results, tool } = log.runs[0];
    expect(results.map(({ ruleId, level }: Record<string, string>) => [ruleId, level])).toEqual([
      ["task-failed", "error"],
      ["task-error", "error"],
      ["task-failed", "error"],
      ["safety-finding", "error"],
    ]);
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
    expect(results[0].locations[0]).toMatchObject({
      physicalLocation: { artifactLocation: { uri: "suites/a%20b.json" }, region: { startLine: 7 } },
      logicalLocations: [{ name: "wrong" }],
    });
  });

  test("says so when an evaluation did not pass and no task is to blame", () => {
    const unfinished = outcomeOf(undefined, {}, entryOf({ status: "cancelled" }));
    expect(read(unfinished).runs[0]).toMatchObject({
      invocations: [{ executionSuccessful: false, exitCode: 5 }],
      results: [{ ruleId: "verdict", level: "error" }],
    });
    expect(read(passed).runs[0].results).toEqual([]);
  });

  test("holds no control characters", () => {
    expect(sarifText(renamed, "1")).not.toMatch(/\\u001b|\\u0000|\\ud800/);
  });
});

describe("Markdown", () => {
  test("shows the verdict, the figures and the differences", () => {
    const shown = markdownText(outcome);
    expect(shown).toMatch(/^## ❌ `acme\.evals\.refunds@1\.0\.0`/);
    expect(shown).toContain("| Tasks passed | 1 of 4 |");
    expect(shown).toContain("#### `wrong`");
    expect(shown).toContain("agent\\_crashed");
    expect(markdownText(passed)).not.toContain("did not pass");
  });

  test("lets nothing that others wrote format, link, mention or leave its place", () => {
    for (const shown of [markdownText(outcome), markdownText(renamed)]) {
      const outside = withoutCode(shown);
      expect(outside).not.toMatch(/<script|<img|!\[|\]\(|@everyone|https?:\/\//);
      expect(outside.split("\n").filter((line) => /^#+ /.test(line))).toEqual([
        "## ❌ CODE · CODE CODE",
        "### What did not pass",
        ...["#### CODE", "#### CODE", "#### CODE"],
      ]);
      expect(shown).not.toContain("\u001b");
      expect(shown).not.toContain("\u202e");
      for (const row of outside.split("\n").filter((line) => line.startsWith("|"))) {
        expect(row.replaceAll("\\|", "").split("|")).toHaveLength(4);
      }
    }
  });
});

/** What is left when code spans and fences are taken out as CommonMark finds them. */
function withoutCode(markdown: string): string {
  const lines: string[] = [];
  let fence = "";
  for (const line of markdown.split("\n")) {
    const [, ticks = ""] = /^(`{3,})(?:text)?$/.exec(line) ?? [];
    if (fence !== "" && ticks.length >= fence.length) fence = "";
    else if (fence === "" && ticks !== "") fence = ticks;
    else if (fence === "") lines.push(line);
  }
  return lines.join("\n").replace(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g, "CODE");
}

describe("JSON", () => {
  test("is as its schema has it, also of an evaluation that did not complete", () => {
    const unfinished = outcomeOf(undefined, {}, entryOf({ status: "cancelled" }));
    for (const one of [outcome, passed, unfinished]) {
      const file = JSON.parse(evalJsonText(one));
      expect(matches(EvalResultFile, file)).toBe(true);
      expect(file.passed).toBe(file.exitCode === 0);
    }
    expect(JSON.parse(evalJsonText(unfinished))).toMatchObject({ report: null, exitCode: 5, verdict: "no_verdict" });
  });
});

test("without quotes nothing but figures is written", () => {
  const { entry, conclusion } = outcome;
  const tasks = report.tasks.map(({ content: _, ...task }) => task);
  const bare: EvalOutcome = { entry, conclusion, report: { ...report, tasks } };
  for (const written of [junitXml(bare), sarifText(bare, "1"), evalJsonText(bare), markdownText(bare)]) {
    expect(written).not.toContain("alert");
    expect(written).not.toContain("evil");
  }
});
