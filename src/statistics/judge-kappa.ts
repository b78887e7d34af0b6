import type { JudgeKappa } from "../protocol/evals/judge-calibration.ts";
import { cohenKappa } from "./agreement/cohen-kappa.ts";
import { percentiles, RESAMPLES } from "./bootstrap.ts";
import { indexScale, Random } from "./random.ts";
import type { Interval } from "./wilson.ts";

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
