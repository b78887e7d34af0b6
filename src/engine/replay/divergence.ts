import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { type EventDraft, endsRun, type RunEvent } from "../../protocol/events.ts";
import type { DivergenceKind } from "../../protocol/runs/events.ts";

/** Members of an error that are texts for people, as opposed to its code and whether it is retryable. */
const TEXTS: ReadonlySet<string> = new Set(["message", "details"]);
const ERROR_FIELDS: ReadonlySet<string> = new Set(["error", "lastError"]);

/**
 * The recorded failure where the replay comes to the same one: error texts may change between versions of the host, which is no divergence.
 * Other events are returned as they are.
 */
export function withRecordedTexts(original: RunEvent, again: EventDraft): EventDraft {
  if (original.type !== again.type || original.nodeId !== again.nodeId) return again;
  const [recorded, come] = [withoutTexts(original.payload), withoutTexts(again.payload)];
  if (recorded === undefined || come === undefined || canonicalJson(recorded) !== canonicalJson(come)) return again;
  const { sealed: _, ...draft } = again;
  return { ...draft, payload: original.payload, ...(original.sealed && { sealed: original.sealed }) } as EventDraft;
}

/** A payload without the texts of its error; undefined for events without an error. */
function withoutTexts(payload: object): object | undefined {
  if (!Object.keys(payload).some((name) => ERROR_FIELDS.has(name))) return undefined;
  const members = Object.entries(payload);
  return Object.fromEntries(members.map(([name, value]) => [name, ERROR_FIELDS.has(name) ? bare(value) : value]));
}

function bare(error: unknown): unknown {
  if (typeof error !== "object" || error === null) return error;
  return Object.fromEntries(Object.entries(error).filter(([name]) => !TEXTS.has(name)));
}

/** How an event of a replay differs from the recorded one at its place; undefined where it does not. */
export function divergenceOf(original: RunEvent, again: EventDraft): DivergenceKind | undefined {
  if (original.type !== again.type) {
    if (endsRun(original.type)) return "extra";
    return endsRun(again.type) ? "missing" : "type-mismatch";
  }
  if (original.nodeId !== again.nodeId) return "type-mismatch";
  return canonicalJson(original.payload) === canonicalJson(again.payload) ? undefined : "output";
}
