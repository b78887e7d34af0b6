import { validationError } from "../protocol/errors.ts";
import type { CalibrationReport, JudgeKappa, LabelFigures } from "../protocol/evals/judge-certificate-api.ts";
import { cohenKappa } from "./agreement.ts";
import { indexScale, percentiles, Random, RESAMPLES } from "./bootstrap.ts";
import { share } from "./rates.ts";
import type { Interval } from "./wilson.ts";

export interface JudgedItem {
  readonly itemId: string;
  /** The label of people; see `goldOf`. */
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
    throw validationError("an item is there twice");
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

/** Below this the standard error is too rough, and the interval comes from resampled items. */
const FEW_ITEMS = 50;

/** Cohen's kappa of the judge and the people; the interval names the method it was made by. */
export function judgeKappa(pairs: readonly (readonly [gold: string, judge: string])[], seed: number): JudgeKappa {
  const { value, observed, expected, items: count, interval } = cohenKappa(pairs);
  const figures = { count, observed, expected };
  if (value === null) {
    const reason = count === 0 ? "nothing_counted" : "no_variation";
    return { value, reason, ...figures, interval: null, intervalReason: reason };
  }
  if (count >= FEW_ITEMS && interval) return { value, ...figures, interval };
  const resampled = count < FEW_ITEMS ? bootstrapKappa(pairs, seed) : null;
  if (!resampled) return { value, ...figures, interval: null, intervalReason: "no_variation" };
  return { value, ...figures, interval: { ...resampled, method: "bootstrap", seed } };
}

/**
 * Null when resampling is not informative: for complete agreement or disagreement each sample gives the same kappa; and where one
 * label is rare, many samples have only the other and no kappa at all. A few of those are left out.
 */
function bootstrapKappa(pairs: readonly (readonly [string, string])[], seed: number): Interval | null {
  const labels = [...new Set(pairs.flat())].sort();
  const place = new Map(labels.map((label, i) => [label, i]));
  // Sorted, so that the order of the items does not matter.
  const cells = Uint32Array.from(
    pairs,
    ([gold, judge]) => (place.get(gold) ?? 0) * labels.length + (place.get(judge) ?? 0),
  ).sort();
  const random = new Random(seed);
  const words = new Uint32Array(cells.length);
  const scale = indexScale(cells.length);
  const kappas: number[] = [];
  for (let resample = 0; resample < RESAMPLES; resample++) {
    random.fill(words);
    const kappa = kappaOf(words, scale, cells, labels.length);
    if (kappa !== null) kappas.push(kappa);
  }
  if (kappas.length < 0.95 * RESAMPLES) return null;
  const { low, high } = percentiles(Float64Array.from(kappas));
  return high - low < 1e-12 ? null : { low, high };
}

function kappaOf(words: Uint32Array, scale: number, cells: Uint32Array, labels: number): number | null {
  const gold = new Uint32Array(labels);
  const judge = new Uint32Array(labels);
  let agreed = 0;
  for (const word of words) {
    const cell = cells[(word * scale) | 0] as number;
    const row = Math.floor(cell / labels);
    const column = cell % labels;
    gold[row] = (gold[row] as number) + 1;
    judge[column] = (judge[column] as number) + 1;
    if (row === column) agreed++;
  }
  let chance = 0;
  for (let label = 0; label < labels; label++) chance += (gold[label] as number) * (judge[label] as number);
  const items = words.length;
  // Compared in whole numbers: chance agreement is complete only when it is exactly the square.
  return chance === items ** 2 ? null : (agreed * items - chance) / (items ** 2 - chance);
}
