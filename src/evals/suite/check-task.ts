import { parsedJson } from "../../formats/json/check-json.ts";
import { MATCH_STRATEGIES, NAME_LENGTH_MAX, TASK_ID_PATTERN } from "../../protocol/evals/eval-suite.ts";
import { isObject } from "../../protocol/own.ts";
import type { ProblemList } from "./suite-problem.ts";
import { checkName, checkNumber, checkText, checkWord, type Fields, fieldsOf, listOf } from "./validate-fields.ts";

/** The parts of a task that could be read. */
export interface SeenTask {
  readonly taskId: string | undefined;
  readonly kind: "golden" | "rubric" | undefined;
}

const TASK_ID = {
  pattern: new RegExp(TASK_ID_PATTERN),
  max: NAME_LENGTH_MAX,
  form: 'a name like "refund-within-30-days": small letters, digits and hyphens',
};

export function checkTask(found: ProblemList, path: string, value: unknown): SeenTask {
  const task = fieldsOf(found, path, value, { required: ["taskId", "input", "expected"], optional: ["fixtures"] });
  if (task === undefined) return { taskId: undefined, kind: undefined };
  const { taskId, expected, fixtures } = task;
  const named = taskId !== undefined && checkName(found, `${path}/taskId`, taskId, TASK_ID) ? taskId : undefined;
  const kind = expected === undefined ? undefined : checkExpected(found, `${path}/expected`, expected);
  if (fixtures !== undefined) checkFixtures(found, `${path}/fixtures`, fixtures);
  return { taskId: named, kind };
}

function checkExpected(found: ProblemList, path: string, value: unknown): SeenTask["kind"] {
  const expected = fieldsOf(found, path, value, { required: ["kind"], optional: ["match", "rubric"] });
  if (expected === undefined) return undefined;
  const { kind, match, rubric } = expected;
  if (match !== undefined) checkMatch(found, `${path}/match`, match);
  if (rubric !== undefined) checkRubric(found, `${path}/rubric`, rubric);
  if (kind === undefined || !checkWord(found, `${path}/kind`, kind, ["golden", "rubric"])) return undefined;
  if (match !== undefined && rubric !== undefined) {
    const fix = `Remove "${kind === "golden" ? "rubric" : "match"}", or make two tasks of it.`;
    found.add("two_expectations", path, 'has both "match" and "rubric"', fix);
  } else if (kind === "golden" && match === undefined) {
    const fix = 'Add "match": { "strategy": "exact", "value": … } (or "contains", "json-match").';
    found.add("golden_without_match", path, 'is of the kind "golden" and has no "match"', withOther(expected, fix));
  } else if (kind === "rubric" && rubric === undefined) {
    const fix = 'Add "rubric": [{ "criterion": "…", "weight": 1 }].';
    found.add("rubric_without_criteria", path, 'is of the kind "rubric" and has no "rubric"', withOther(expected, fix));
  }
  return kind;
}

function withOther({ match, rubric }: Fields, fix: string): string {
  if (match === undefined && rubric === undefined) return fix;
  return `${fix} Or write "kind": "${match === undefined ? "rubric" : "golden"}".`;
}

function checkMatch(found: ProblemList, path: string, value: unknown): void {
  const match = fieldsOf(found, path, value, { required: ["strategy", "value"] });
  if (match === undefined || match["strategy"] === undefined) return;
  const { strategy, value: expected } = match;
  if (!checkWord(found, `${path}/strategy`, strategy, MATCH_STRATEGIES)) return;
  if (strategy === "contains" && expected === "") {
    const fix = "Write a text that only a right answer has.";
    found.add("matches_anything", `${path}/value`, "is empty, and every output contains that", fix);
  }
  if (strategy === "json-match" && typeof expected === "string" && isJsonBranch(expected)) {
    const fix = "Write the value itself, without the quotes around it.";
    found.add(
      "json_in_text",
      `${path}/value`,
      "is a text that holds JSON, and only an output that is this text matches",
      fix,
    );
  }
}

function isJsonBranch(text: string): boolean {
  return /^\s*[[{]/.test(text) && parsedJson(text) !== undefined;
}

function checkFixtures(found: ProblemList, path: string, value: unknown): void {
  const fixtures = fieldsOf(found, path, value, { required: [], optional: ["toolResponses", "memorySeed"] });
  if (fixtures === undefined) return;
  const { toolResponses, memorySeed } = fixtures;
  if (toolResponses !== undefined) {
    const responses = listOf(found, `${path}/toolResponses`, toolResponses, {
      atLeastOne: false,
      of: "a tool response",
    });
    responses.forEach((response, i) => {
      checkToolResponse(found, `${path}/toolResponses/${i}`, response);
    });
  }
  if (memorySeed === undefined) return;
  listOf(found, `${path}/memorySeed`, memorySeed, { atLeastOne: false, of: "a memory entry" }).forEach((entry, i) => {
    checkSeed(found, `${path}/memorySeed/${i}`, entry);
  });
}

function checkToolResponse(found: ProblemList, path: string, value: unknown): void {
  const response = fieldsOf(found, path, value, { required: ["tool"], optional: ["response"] });
  if (response?.["tool"] === undefined) return;
  checkText(found, `${path}/tool`, response["tool"], "the name of a tool as the agent's allow-list has it");
}

function checkSeed(found: ProblemList, path: string, entry: unknown): void {
  if (!isObject(entry)) {
    found.add("wrong_type", path, "must be an object", 'Write { "content": "…" }.');
  } else if (typeof entry["content"] !== "string") {
    const fix = 'Add "content": "…", the text that the agent remembers.';
    found.add("seed_without_content", path, "has no text as its content, so there is nothing to remember", fix);
  }
}

/** Rounding errors are allowed. */
const TOLERANCE = 1e-6;

function checkRubric(found: ProblemList, path: string, value: unknown): void {
  const criteria = listOf(found, path, value, { atLeastOne: true, of: '{ "criterion": "…", "weight": 1 }' });
  const seen = new Set<string>();
  const weights: number[] = [];
  criteria.forEach((one, i) => {
    const at = `${path}/${i}`;
    const fields = fieldsOf(found, at, one, { required: ["criterion", "weight"] });
    if (fields === undefined) return;
    const { criterion, weight } = fields;
    if (weight !== undefined && checkNumber(found, `${at}/weight`, weight, { max: 1 })) weights.push(weight);
    if (criterion === undefined || !checkText(found, `${at}/criterion`, criterion, "what a judge is to look for"))
      return;
    if (seen.has(criterion)) {
      found.add(
        "repeated_criterion",
        `${at}/criterion`,
        "is in the rubric already",
        "Keep it once, with the weight of both.",
      );
    }
    seen.add(criterion);
  });
  // A weight that is missing or wrong was complained of; the sum would only say so again.
  if (weights.length === criteria.length && weights.length > 0) checkSum(found, path, weights);
}

function checkSum(found: ProblemList, path: string, weights: readonly number[]): void {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (sum === 0) {
    found.add("weightless", path, "has no weight above 0, so nothing would count", "Give a criterion some weight.");
  } else if (Math.abs(sum - 1) > TOLERANCE) {
    const problem = `has weights that come to ${Number(sum.toFixed(6))} and not to 1`;
    found.add("weights_not_one", path, problem, "Make them come to 1; until then they are scaled.");
  }
}
