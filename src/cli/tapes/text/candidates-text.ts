import { printFreeForm } from "../../../formats/json/print-json.ts";
import type { Candidate, CandidateStep, Example, Variation } from "../../../formats/tapes/candidates/candidates.ts";
import { SEQUENCE_MAX } from "../../../formats/tapes/candidates/rank.ts";
import { formatCount } from "../../output/amount.ts";
import type { Paint } from "../../output/io.ts";
import { printable, shorten } from "../../output/printable.ts";
import { authorText } from "./author-text.ts";
import { labelled } from "./labelled.ts";

const TAPES_SHOWN = 5;
const TEXT_MAX = 100;

export interface CandidateSums {
  readonly tapes: number;
  readonly minExamples: number;
  /** Also those that are not listed. */
  readonly found: number;
}

/** What is done again and again, the best to make a workflow of first. */
export function candidatesText(candidates: readonly Candidate[], sums: CandidateSums, paint: Paint): string {
  const { tapes, minExamples, found } = sums;
  if (tapes < minExamples) return `Nothing to compare: ${formatCount(tapes, "tape")}, and ${minExamples} are needed.`;
  if (found === 0) return `No sequence of actions is in ${minExamples} or more of ${formatCount(tapes, "tape")}.`;
  const rest = found - candidates.length;
  return [
    ...candidates.map((candidate, i) => candidateText(candidate, i, tapes, paint)),
    ...(rest > 0 ? [paint.dim(`${formatCount(rest, "more sequence")}; --limit shows more.`)] : []),
  ].join("\n\n");
}

function candidateText(candidate: Candidate, index: number, tapes: number, paint: Paint): string {
  const { steps, stretch, anchors, varies, confidence } = candidate;
  const longer = stretch > SEQUENCE_MAX ? `, part of ${stretch} that are the same there` : "";
  const heading = `${formatCount(steps.length, "step")}${longer}, in ${candidate.tapes.length} of ${formatCount(tapes, "tape")}`;
  return [
    `${index + 1}. ${paint.bold(heading)}, confidence ${confidence.toFixed(2)}`,
    ...steps.map((step, i) => `   ${String(i + 1).padStart(2)}  ${stepText(step, paint)}`),
    ...labelled("asked for", anchors.map(anchorText), paint),
    ...labelled("found in", tapesText(candidate.tapes), paint),
    ...labelled("varies", varies.map(variationText), paint),
  ].join("\n");
}

function stepText({ kind, name, parameters, deterministic }: CandidateStep, paint: Paint): string {
  const called = parameters.length === 0 ? "" : ` (${shown(parameters.join(", "))})`;
  return `${kind} ${shown(name)}${called}${deterministic ? "" : paint.yellow("  a model decides")}`;
}

function anchorText({ path, anchor }: Candidate["anchors"][number]): string {
  const { author, evidence, event_id } = anchor;
  const why = evidence === null || evidence === "" ? "" : `: ${shown(evidence)}`;
  return `by ${author === null ? "somebody" : authorText(author)} at ${shown(path)} event ${event_id}${why}`;
}

function tapesText(examples: readonly Example[]): string[] {
  const lines = examples.slice(0, TAPES_SHOWN).map(({ path, firstSeq, lastSeq }) => {
    return `${shown(path)} from event ${firstSeq} to ${lastSeq}`;
  });
  const more = examples.length - lines.length;
  return more > 0 ? [...lines, `and ${formatCount(more, "more tape")}`] : lines;
}

function variationText({ step, parameter, distinct, examples }: Variation): string {
  const values = examples.map((value) => shorten(printable(printFreeForm(value)), TEXT_MAX / 2)).join(", ");
  return `step ${step + 1} ${shown(parameter)}: ${values}${distinct > examples.length ? `, … (${distinct} values)` : ""}`;
}

function shown(text: string): string {
  return shorten(printable(text), TEXT_MAX);
}

/** Steps and ranks count from 1, as people do. */
export function candidateJson(candidate: Candidate, index: number) {
  const { steps, tapes, anchors, confidence, stretch, varies } = candidate;
  return {
    rank: index + 1,
    steps,
    tapes,
    anchors: anchors.map(({ path, anchor }) => ({ path, ...anchor })),
    confidence,
    stretch,
    varies: varies.map((one) => ({ ...one, step: one.step + 1 })),
  };
}
