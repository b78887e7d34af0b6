import { defined } from "../../../protocol/defined.ts";
import type { Signal } from "../../../protocol/judgments/annotation.ts";
import type { AdjudicateRequest, QueueRules } from "../../../protocol/queues/api.ts";
import { invalid } from "./rules.ts";

/** What somebody says about an item, as the annotations it becomes: the judgment itself, then a correction. */
export interface Said {
  readonly signal: Signal;
  readonly note?: string;
}

/** The label that says of a run that it was looked at and not flagged: there is no signal for that. */
export const NOT_FLAGGED = "not-flagged";

/** Throws unless the judgment is what the queue asks for. */
export function saidOf(rules: QueueRules, { value, note, correction }: AdjudicateRequest): Said[] {
  if (rules.noteRequired && note === undefined) throw invalid("note", "this queue wants a note with every judgment");
  if (correction === undefined && rules.correction === "required") {
    throw invalid("correction", "this queue wants a correction with every judgment");
  }
  if (correction !== undefined && rules.correction === "off") {
    throw invalid("correction", "this queue takes no corrections; annotate the run itself");
  }
  const main: Said = defined({ signal: signalOf(rules, value), note });
  return correction === undefined ? [main] : [main, { signal: { kind: "correction", correction } }];
}

function signalOf({ judgment }: QueueRules, value: AdjudicateRequest["value"]): Signal {
  switch (judgment.kind) {
    case "rating":
      if (typeof value !== "number") throw invalid("value", "value must be a rating from 1 to 5");
      return { kind: "rating", rating: value };
    case "label":
      if (typeof value !== "string" || !judgment.labels.includes(value)) {
        throw invalid("value", `value must be one of the queue's labels: ${judgment.labels.join(", ")}`);
      }
      return { kind: "label", label: value };
    case "flag":
      if (typeof value !== "boolean") throw invalid("value", "value must be true to flag the run, or false");
      return value ? { kind: "flag" } : { kind: "label", label: NOT_FLAGGED };
  }
}
