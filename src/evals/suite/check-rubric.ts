import type { ProblemList } from "./suite-problem.ts";
import { checkNumber, checkText, fieldsOf, listOf } from "./validate-fields.ts";

/** Rounding errors are allowed. */
const TOLERANCE = 1e-6;

export function checkRubric(found: ProblemList, path: string, value: unknown): void {
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
