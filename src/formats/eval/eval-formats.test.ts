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
