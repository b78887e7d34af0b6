import { AppError } from "../protocol/errors.ts";
import type { CalibrationReport, LabelFigures } from "../protocol/evals/judge-calibration.ts";
import { share } from "./estimate.ts";
import { judgeKappa } from "./judge-kappa.ts";

export interface JudgedItem {
  readonly itemId: string;
  /** The label of people; see `gold.ts`. */
  readonly gold: string;
  readonly judge: string;
}

export interface CalibrationSettings {
  readonly seed: number;
  /** The label that sensitivity and specificity are about. */
  readonly positive?: string;
}

type Labels = readonly (readonly [gold: string, judge: string])[];

/** The judge's verdicts against the labels of people for the same outputs; the same again for each label against all others. */
export function calibrationReport(
  items: readonly JudgedItem[],
  { seed, positive = "pass" }: CalibrationSettings,
): CalibrationReport {
  if (new Set(items.map(({ itemId }) => itemId)).size < items.length) {
    throw new AppError("validation_error", { problem: "an item is there twice" });
  }
  const pairs: Labels = items.map(({ gold, judge }) => [gold, judge]);
  const labels = [...new Set(pairs.flat())].sort();
  const { sensitivity, specificity } = figuresOf(pairs, positive, seed);
  return {
    n: items.length,
    positive,
    labels,
    confusion: confusionOf(pairs),
    accuracy: share(pairs.filter(([gold, judge]) => gold === judge).length, pairs.length),
    sensitivity,
    specificity,
    kappa: judgeKappa(pairs, seed),
    byLabel: labels.map((label) => figuresOf(pairs, label, seed)),
  };
}

function figuresOf(pairs: Labels, label: string, seed: number): LabelFigures {
  const is = (value: string) => (value === label ? "yes" : "no");
  const either: Labels = pairs.map(([gold, judge]) => [is(gold), is(judge)]);
  const count = (gold: string, judge: string) => either.filter(([g, j]) => g === gold && j === judge).length;
  const truePositives = count("yes", "yes");
  const falsePositives = count("no", "yes");
  const falseNegatives = count("yes", "no");
  const trueNegatives = count("no", "no");
  return {
    label,
    truePositives,
    falsePositives,
    falseNegatives,
    trueNegatives,
    accuracy: share(truePositives + trueNegatives, pairs.length),
    sensitivity: share(truePositives, truePositives + falseNegatives),
    specificity: share(trueNegatives, trueNegatives + falsePositives),
    kappa: judgeKappa(either, seed),
  };
}

/** The cells that are not empty, in order. */
function confusionOf(pairs: Labels): CalibrationReport["confusion"] {
  const cells = new Map<string, { gold: string; judge: string; count: number }>();
  for (const [gold, judge] of pairs) {
    const key = JSON.stringify([gold, judge]);
    const cell = cells.get(key) ?? { gold, judge, count: 0 };
    cell.count++;
    cells.set(key, cell);
  }
  return [...cells.values()].sort((a, b) => byText(a.gold, b.gold) || byText(a.judge, b.judge));
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
