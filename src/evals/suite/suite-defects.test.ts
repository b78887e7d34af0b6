import { describe, expect, test } from "vitest";
import { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { matches } from "../../protocol/schema.ts";
import { below, randomText } from "../../testing/random-json.ts";
import { pick, type Random, randomFrom } from "../../testing/random-workflow.ts";
import { evalSuite, goldenTask, rubricTask } from "../../testing/suite-builders.ts";
import { loadSuite } from "./load-suite.ts";
import { PROBLEMS_MAX } from "./suite-problem.ts";

type Draft = Record<string, unknown> & { tasks: Record<string, unknown>[] };
type Defect = (draft: Draft, task: Record<string, unknown>, at: string) => string;

/** Each spoils one place and says what must be found there. */
const OF_TASKS: readonly Defect[] = [
  (_, task, at) => spoil(task, "taskId", "Not A Name", `bad_name ${at}/taskId`),
  (_, task, at) => spoil(task, "taskId", 7, `wrong_type ${at}/taskId`),
  (_, task, at) => without(task, "taskId", `missing_member ${at}`),
  (_, task, at) => without(task, "input", `missing_member ${at}`),
  (_, task, at) => spoil(task, "note", "x", `unknown_member ${at}/note`),
  (_, task, at) => spoil(task, "expected", [], `wrong_type ${at}/expected`),
  (_, task, at) => spoil(task, "expected", { kind: "golden" }, `golden_without_match ${at}/expected`),
  (_, task, at) => spoil(task, "expected", { kind: "rubric" }, `rubric_without_criteria ${at}/expected`),
  (_, task, at) => spoil(task, "expected", { kind: "exact" }, `unknown_word ${at}/expected/kind`),
  (_, task, at) => {
    const match = { strategy: "fuzzy", value: 1 };
    return spoil(task, "expected", { kind: "golden", match }, `unknown_word ${at}/expected/match/strategy`);
  },
  (_, task, at) => {
    const rubric = [{ criterion: "x", weight: 1.5 }];
    return spoil(task, "expected", { kind: "rubric", rubric }, `out_of_range ${at}/expected/rubric/0/weight`);
  },
  (_, task, at) => spoil(task, "fixtures", { tools: [] }, `unknown_member ${at}/fixtures/tools`),
  (_, task, at) => spoil(task, "fixtures", { toolResponses: [{}] }, `missing_member ${at}/fixtures/toolResponses/0`),
  (_, task, at) => spoil(task, "fixtures", { memorySeed: ["x"] }, `wrong_type ${at}/fixtures/memorySeed/0`),
  (_, task, at) => spoil(task, "input", `key ${"AKIA"}IOSFODNN7EXAMPLZ`, `secret ${at}/input`),
];

const OF_SUITES: readonly ((draft: Draft) => string)[] = [
  (draft) => spoil(draft, "suiteId", "no-infix", "bad_name /suiteId"),
  (draft) => spoil(draft, "version", "v1", "bad_name /version"),
  (draft) => without(draft, "version", "missing_member "),
  (draft) => spoil(draft, "modes", ["regression", "regression"], "repeated_word /modes/1"),
  (draft) => spoil(draft, "modes", [], "empty /modes"),
  (draft) => spoil(draft, "allowedModels", ["gpt"], "unknown_word /allowedModels/0"),
  (draft) => spoil(draft, "thresholds", { passScore: 2 }, "out_of_range /thresholds/passScore"),
  (draft) => spoil(draft, "thresholds", { maxCostUsd: -1 }, "out_of_range /thresholds/maxCostUsd"),
  (draft) => spoil(draft, "targetAgentId", "", "empty /targetAgentId"),
  (draft) => spoil(draft, "description", "x", "unknown_member /description"),
];

function spoil(object: Record<string, unknown>, name: string, value: unknown, found: string): string {
  object[name] = value;
  return found;
}

function without(object: Record<string, unknown>, name: string, found: string): string {
  delete object[name];
  return found;
}

function draftOf(random: Random): Draft {
  const tasks = Array.from({ length: 1 + below(random, 12) }, (_, i) => {
    const input = randomText(random).replaceAll("\0", "");
    return random() < 0.5 ? goldenTask(`g-${i}`, { input }) : rubricTask(`r-${i}`, { input });
  });
  return structuredClone(evalSuite({ modes: ["regression"], tasks })) as unknown as Draft;
}

describe("a random suite", () => {
  test("with any number of defects has them all reported at once, and nothing else", () => {
    const random = randomFrom(11);
    const seen = new Set<string>();
    for (let i = 0; i < 300; i++) {
      const draft = draftOf(random);
      const planted = draft.tasks.flatMap((task, at) =>
        random() < 0.6 ? [pick(random, OF_TASKS)(draft, task, `/tasks/${at}`)] : [],
      );
      if (random() < 0.6) planted.push(pick(random, OF_SUITES)(draft));
      const loaded = loadSuite(Buffer.from(JSON.stringify(draft)));
      expect(loaded.problems.map(({ code, path }) => `${code} ${path}`).sort()).toEqual([...planted].sort());
      expect(loaded.ok).toBe(planted.length === 0);
      for (const one of planted) seen.add(one.split(" ")[0] ?? "");
    }
    expect(seen.size).toBeGreaterThan(10);
  });

  test("is accepted by the checks exactly when the schema accepts it, but for what only the checks know", () => {
    const random = randomFrom(12);
    const more = ["repeated_task", "secret", "weightless", "task_without_mode"];
    const seen = { accepted: 0, refused: 0 };
    for (let i = 0; i < 2000; i++) {
      const draft = mutated(draftOf(random), random);
      const loaded = loadSuite(Buffer.from(JSON.stringify(draft)));
      const errors = loaded.problems.filter(({ severity }) => severity === "error");
      const ours = errors.every(({ code }) => more.includes(code));
      expect(ours, JSON.stringify({ draft, errors })).toBe(matches(AgentEvalSuite, draft));
      if (ours) seen.accepted++;
      else seen.refused++;
    }
    expect(seen.accepted).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(100);
  });
});

const ODD_VALUES = [null, 0, 1, -1, 0.5, "", "x", "golden", [], ["golden"], {}, { kind: "golden" }, true];

/** Puts something else in a random place, or takes away what is there. */
function mutated(value: unknown, random: Random): unknown {
  if (random() < 0.08 || typeof value !== "object" || value === null)
    return random() < 0.5 ? pick(random, ODD_VALUES) : value;
  const names = Object.keys(value);
  const name = pick(random, names);
  if (name === undefined) return value;
  const member = (value as Record<string, unknown>)[name];
  if (Array.isArray(value)) return value.with(Number(name), mutated(member, random));
  if (random() < 0.1) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
  return { ...value, [name]: mutated(member, random) };
}

describe("a hostile suite", () => {
  test("with a defect in each of ten thousand tasks is counted in full and listed in part", () => {
    const tasks = Array.from({ length: 10_000 }, () => ({ taskId: "same", input: 1, expected: { kind: "golden" } }));
    const loaded = loadSuite(Buffer.from(JSON.stringify({ ...evalSuite(), tasks })));
    expect(loaded).toMatchObject({ ok: false, errors: 19_999 });
    expect(loaded.problems).toHaveLength(PROBLEMS_MAX);
    expect(loaded.problems.every(({ line }) => line === 1)).toBe(true);
  });

  test("keeps room for an error behind any number of warnings", () => {
    const rubric = [{ criterion: "x", weight: 0.5 }];
    const odd = Array.from({ length: 1500 }, (_, i) => ({
      taskId: `t${i}`,
      input: 1,
      expected: { kind: "rubric", rubric },
    }));
    const suite = {
      ...evalSuite(),
      modes: ["rubric"],
      tasks: [...odd, { taskId: "last", expected: { kind: "rubric", rubric } }],
    };
    const loaded = loadSuite(Buffer.from(JSON.stringify(suite)));
    expect(loaded).toMatchObject({ ok: false, errors: 1, warnings: 1501 });
    expect(loaded.problems.filter(({ severity }) => severity === "error")).toMatchObject([{ path: "/tasks/1500" }]);
  });

  test("of ten thousand good tasks is loaded", () => {
    const tasks = Array.from({ length: 10_000 }, (_, i) => goldenTask(`task-${i}`));
    expect(loadSuite(Buffer.from(JSON.stringify(evalSuite({ tasks }))))).toMatchObject({ ok: true, problems: [] });
  });

  test("cannot make a name take long, or a text overflow anything", () => {
    const long = "a.evals.".repeat(500_000);
    const suite = {
      ...evalSuite(),
      suiteId: `${long}!`,
      targetAgentId: long,
      tasks: [goldenTask("a", { input: long })],
    };
    const loaded = loadSuite(Buffer.from(JSON.stringify(suite)));
    expect(loaded.problems.map(({ code, path }) => `${code} ${path}`)).toEqual([
      "bad_name /suiteId",
      "bad_name /targetAgentId",
    ]);
  });
});
