import { describe, expect, test } from "vitest";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { matches } from "../../protocol/schema.ts";
import { CANARIES } from "../../testing/secret-canaries.ts";
import { evalSuite, goldenTask, rubricTask } from "../../testing/suite-builders.ts";
import { type LoadedSuite, loadSuite, requireSuite, suiteHash } from "./load-suite.ts";

function load(suite: unknown): LoadedSuite {
  return loadSuite(Buffer.from(typeof suite === "string" ? suite : JSON.stringify(suite, null, 2)));
}

function codes(suite: unknown): string[] {
  return load(suite).problems.map(({ code, path }) => `${code} ${path}`);
}

/** A suite whose only task expects this. */
function expecting(expected: unknown, modes: readonly string[] = ["regression"]): unknown {
  return { ...evalSuite(), modes, tasks: [{ taskId: "a", input: 1, expected }] };
}

describe("a suite without a fault", () => {
  test("is loaded with its hash and its own text", () => {
    const suite = evalSuite({ modes: ["golden", "rubric"], tasks: [goldenTask("a"), rubricTask("b")] });
    const text = JSON.stringify(suite, null, 4);
    expect(load(text)).toEqual({ ok: true, suite, sha256: suiteHash(suite), text, problems: [], warnings: 0 });
  });

  test("has one hash however it is written", () => {
    const { suiteId, version, ...rest } = evalSuite();
    const one = requireSuite(load({ suiteId, version, ...rest }), "suite");
    const other = requireSuite(load(`  ${JSON.stringify({ ...rest, version, suiteId })}\n`), "suite");
    expect(other.sha256).toBe(one.sha256);
    expect(one.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test("has another hash when anything in it is another", () => {
    const changed = evalSuite({ tasks: [goldenTask("greets", { input: { name: "Bob" } })] });
    expect(suiteHash(changed)).not.toBe(suiteHash(evalSuite()));
  });

  test("may hold anything as input, as expected value and as fixtures", () => {
    for (const value of [null, 0, false, "", [], {}, { deep: [{ er: null }] }]) {
      const match = { strategy: "json-match" as const, value };
      const fixtures = {
        toolResponses: [{ tool: "crm:find", response: value }],
        memorySeed: [{ content: "x", more: value }],
      };
      const task = goldenTask("a", { input: value, expected: { kind: "golden", match }, fixtures });
      expect(load(evalSuite({ tasks: [task] }))).toMatchObject({ ok: true, problems: [] });
    }
  });
});

describe("a text that is no suite", () => {
  test("is refused where it stops being JSON", () => {
    expect(load('{\n  "suiteId": "a",\n  "version": 1.,\n}')).toEqual({
      ok: false,
      errors: 1,
      warnings: 0,
      problems: [
        expect.objectContaining({ code: "not_json", path: "", line: 3, problem: expect.stringContaining("not JSON") }),
      ],
    });
  });

  test.each([
    ["", "not_json"],
    ["// no comments\n{}", "not_json"],
    ["\ufeff{}", "not_json"],
    ['{"suiteId":"\\ud800"}', "not_json"],
    ["[".repeat(65) + "]".repeat(65), "too_deep"],
    [`[${"0,".repeat(2_000_001)}0]`, "too_large"],
    ["[]", "wrong_type"],
    ["null", "wrong_type"],
    ['"suite"', "wrong_type"],
  ])("says so: %.20s", (text, code) => {
    const loaded = load(text);
    expect(loaded.ok).toBe(false);
    expect(loaded.problems.map((problem) => problem.code)).toEqual([code]);
  });

  test("is refused when it is not UTF-8 or too long", () => {
    expect(loadSuite(Uint8Array.of(0x22, 0xff, 0x22)).problems).toMatchObject([{ code: "not_usable" }]);
    const limits = { maxBytes: 10, maxElements: 10 };
    expect(loadSuite(Buffer.from(JSON.stringify(evalSuite())), { limits }).problems).toMatchObject([
      { code: "too_large" },
    ]);
    const bytes = Buffer.from(JSON.stringify(evalSuite()));
    const fits = (maxBytes: number) => loadSuite(bytes, { limits: { maxBytes, maxElements: 1000 } }).ok;
    expect([fits(bytes.length), fits(bytes.length - 1)]).toEqual([true, false]);
  });
});

describe("what is wrong with a suite", () => {
  test("is told all at once, each at its place in the file, with what to do", () => {
    const text = `{
  "suiteId": "refunds",
  "version": "1.0",
  "modes": ["golden", "vibes", "golden"],
  "thresholds": { "passScore": 80, "maxP95LatencyMs": 0.5, "speed": 1 },
  "allowedModels": ["huge"],
  "tasks": [
    { "taskId": "A b", "input": 1, "expected": { "kind": "golden" } },
    { "taskId": "b", "expected": { "kind": "rubric", "rubric": [] } },
    { "taskId": "b", "input": 1, "expected": { "kind": "golden", "match": { "strategy": "regex", "value": 1 } } }
  ]
}`;
    const { problems } = load(text);
    expect(problems.map(({ code, path, line, column }) => `${line}:${column} ${code} ${path}`)).toEqual([
      "2:3 bad_name /suiteId",
      "3:3 bad_name /version",
      "4:23 unknown_word /modes/1",
      "4:32 repeated_word /modes/2",
      "5:19 out_of_range /thresholds/passScore",
      "5:36 wrong_type /thresholds/maxP95LatencyMs",
      "5:60 unknown_member /thresholds/speed",
      "6:21 unknown_word /allowedModels/0",
      "8:7 bad_name /tasks/0/taskId",
      "8:36 golden_without_match /tasks/0/expected",
      "9:5 missing_member /tasks/1",
      "9:22 task_without_mode /tasks/1/expected",
      "9:54 empty /tasks/1/expected/rubric",
      "10:7 repeated_task /tasks/2/taskId",
      "10:77 unknown_word /tasks/2/expected/match/strategy",
    ]);
    for (const { problem, fix } of problems) {
      expect(problem).not.toBe("");
      expect(fix).toMatch(/^[A-Z].*\.$/);
    }
  });

  test("is every member that is missing", () => {
    expect(load({}).problems.map(({ problem }) => problem)).toEqual([
      'must have "suiteId"',
      'must have "version"',
      'must have "modes"',
      'must have "tasks"',
    ]);
    expect(codes({ ...evalSuite(), tasks: [{}] })).toHaveLength(3);
  });

  test.each([
    [{ kind: "golden" }, ["golden_without_match /tasks/0/expected"]],
    [{ kind: "rubric" }, ["rubric_without_criteria /tasks/0/expected"]],
    [{ kind: "golden", rubric: [{ criterion: "x", weight: 1 }] }, ["golden_without_match /tasks/0/expected"]],
    [
      { kind: "golden", match: { strategy: "exact", value: 1 }, rubric: [{ criterion: "x", weight: 1 }] },
      ["two_expectations /tasks/0/expected"],
    ],
    [{ match: { strategy: "exact", value: 1 } }, ["missing_member /tasks/0/expected"]],
    [{ kind: "vibes" }, ["unknown_word /tasks/0/expected/kind"]],
    [{ kind: "golden", match: null }, ["wrong_type /tasks/0/expected/match"]],
    [{ kind: "golden", match: { strategy: "exact" } }, ["missing_member /tasks/0/expected/match"]],
    [
      { kind: "rubric", rubric: [{ criterion: "", weight: 2 }] },
      ["empty /tasks/0/expected/rubric/0/criterion", "out_of_range /tasks/0/expected/rubric/0/weight"],
    ],
    [{ kind: "rubric", rubric: [{ criterion: "x", weight: 0 }] }, ["weightless /tasks/0/expected/rubric"]],
    [
      { kind: "rubric", rubric: [{ criterion: "x", weight: -0.1 }] },
      ["out_of_range /tasks/0/expected/rubric/0/weight"],
    ],
    ["hello", ["wrong_type /tasks/0/expected"]],
  ])("is what a task cannot be scored by: %j", (expected, found) => {
    const loaded = load(expecting(expected));
    expect(loaded.ok).toBe(false);
    expect(loaded.problems.map(({ code, path }) => `${code} ${path}`)).toEqual(found);
  });

  test("is a member that is there twice, which a parser would pass over", () => {
    const text = JSON.stringify(evalSuite()).replace('"version":"1.0.0"', '"version":"1.0.0","version":"2.0.0"');
    expect(codes(text)).toEqual(["repeated_member /version"]);
  });

  test("is a task that no mode runs", () => {
    expect(codes(evalSuite({ tasks: [goldenTask("a"), rubricTask("b")] }))).toEqual([
      "task_without_mode /tasks/1/expected",
    ]);
    for (const mode of ["adversarial", "regression", "live-shadow"] as const) {
      expect(codes(evalSuite({ modes: [mode], tasks: [goldenTask("a"), rubricTask("b")] }))).toEqual([]);
    }
  });

  test("is text that no database keeps", () => {
    expect(codes(evalSuite({ tasks: [goldenTask("a", { input: "a\0b" })] }))).toEqual(["not_usable /tasks/0/input"]);
    expect(codes(JSON.stringify(evalSuite()).replace('"name"', '"__proto__"'))).toEqual(["not_usable /tasks/0/input"]);
  });
});

describe("what is only strange about a suite", () => {
  test.each([
    [{ kind: "rubric", rubric: [{ criterion: "x", weight: 0.5 }] }, "weights_not_one /tasks/0/expected/rubric"],
    [
      {
        kind: "rubric",
        rubric: [
          { criterion: "x", weight: 0.5 },
          { criterion: "x", weight: 0.5 },
        ],
      },
      "repeated_criterion /tasks/0/expected/rubric/1/criterion",
    ],
    [{ kind: "golden", match: { strategy: "contains", value: "" } }, "matches_anything /tasks/0/expected/match/value"],
    [
      { kind: "golden", match: { strategy: "json-match", value: '{"a":1}' } },
      "json_in_text /tasks/0/expected/match/value",
    ],
  ])("is remarked, and the suite is used: %j", (expected, found) => {
    const loaded = load(expecting(expected, ["regression"]));
    expect(loaded).toMatchObject({ ok: true, warnings: 1, problems: [{ severity: "warning" }] });
    expect(loaded.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([found]);
  });

  test("is a number that a reader may round, and a memory without content", () => {
    expect(codes(JSON.stringify(evalSuite()).replace('"hello"', "9007199254740993"))).toEqual([
      "inexact_number /tasks/0/expected/match/value",
    ]);
    expect(codes(evalSuite({ tasks: [goldenTask("a", { fixtures: { memorySeed: [{ note: "x" }] } })] }))).toEqual([
      "seed_without_content /tasks/0/fixtures/memorySeed/0",
    ]);
  });

  test("is a mode that no task is for", () => {
    expect(codes(evalSuite({ modes: ["golden", "rubric"] }))).toEqual(["mode_without_task /modes"]);
  });

  test("is not the rounding of weights", () => {
    const rubric = [0.1, 0.2, 0.3, 0.4].map((weight, i) => ({ criterion: `c${i}`, weight }));
    expect(codes(expecting({ kind: "rubric", rubric }, ["rubric"]))).toEqual([]);
  });
});

describe("a secret in a suite", () => {
  const shapes = CANARIES.filter(({ text }) => scrubber().holdsKey(text));

  test("is refused wherever it stands, and never quoted", () => {
    expect(shapes.length).toBeGreaterThan(10);
    for (const { text, secret } of shapes) {
      const fixtures = {
        toolResponses: [{ tool: "a:b", response: [{ answer: text }] }],
        memorySeed: [{ content: text }],
      };
      const rubric = [{ criterion: text, weight: 1 }];
      const tasks = [
        goldenTask("a", { input: text, fixtures }),
        rubricTask("b", { expected: { kind: "rubric", rubric } }),
      ];
      const loaded = load(evalSuite({ modes: ["regression"], tasks }));
      expect(loaded.ok, text).toBe(false);
      expect(loaded.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
        "secret /tasks/0/input",
        "secret /tasks/0/fixtures/toolResponses/0/response/0/answer",
        "secret /tasks/0/fixtures/memorySeed/0/content",
        "secret /tasks/1/expected/rubric/0/criterion",
      ]);
      expect(JSON.stringify(loaded)).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
  });

  test("is found in the name of a member too, and the name is not told", () => {
    const [shape] = shapes;
    const loaded = load(evalSuite({ tasks: [goldenTask("a", { input: { [shape?.text ?? ""]: 1 } })] }));
    expect(loaded.problems).toMatchObject([{ code: "secret", path: "/tasks/0/input" }]);
  });

  test("is not told as the name of a member that is not known either", () => {
    for (const { text, secret } of shapes) {
      const loaded = load({ ...evalSuite(), [text]: 1, tasks: [{ ...goldenTask("a"), [text]: 2 }] });
      expect(loaded.problems.filter(({ code }) => code === "unknown_member")).toHaveLength(2);
      expect(JSON.stringify(loaded)).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
  });

  test("is not a canary", () => {
    expect(codes(evalSuite({ tasks: [goldenTask("a", { input: "say CANARY-7f3a-blue" })] }))).toEqual([]);
  });

  test("is also what the process knows to be one", () => {
    const bytes = Buffer.from(JSON.stringify(evalSuite({ tasks: [goldenTask("a", { input: "swordfish-of-ours" })] })));
    expect(loadSuite(bytes).ok).toBe(true);
    expect(loadSuite(bytes, { scrubber: scrubber({ known: ["swordfish-of-ours"] }) }).problems).toMatchObject([
      { code: "secret", path: "/tasks/0/input" },
    ]);
  });
});

test("what is loaded has the form that the schema asks for, and what has not is refused", () => {
  const suite = evalSuite({ modes: ["rubric"], tasks: [rubricTask("a")], thresholds: { passScore: 0.5 } });
  const loaded = requireSuite(load(suite), "suite");
  expect(matches(AgentEvalSuite, loaded.suite)).toBe(true);
  const refusal = () => requireSuite(load({ ...suite, tasks: [], modes: [] }), "the suite");
  expect(refusal).toThrow("the suite/modes is empty, and 1 more");
});
