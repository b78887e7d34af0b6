import { canonicalJson } from "../../formats/canonical-json.ts";
import { type EventDraft, endsRun, type RunEvent } from "../../protocol/events.ts";
import type { DivergenceKind } from "../../protocol/fork-events.ts";

/** How what a replay comes to differs from what is recorded at the same place; undefined when it does not. */
export function divergenceOf(original: RunEvent, again: EventDraft): DivergenceKind | undefined {
  if (original.type !== again.type) {
    if (endsRun(original.type)) return "extra";
    return endsRun(again.type) ? "missing" : "type-mismatch";
  }
  if (original.nodeId !== again.nodeId) return "type-mismatch";
  return canonicalJson(original.payload) === canonicalJson(again.payload) ? undefined : "output";
}
