import type { EventDraft, RunEvent } from "../protocol/events.ts";
import type { IdPrefix } from "../protocol/id.ts";
import { evolve, type Run } from "../protocol/run.ts";
import { maskValues, sensitiveValues } from "../protocol/sensitive.ts";
import type { Sensitivity } from "../protocol/snapshot.ts";

export interface Stamping {
  readonly runId: string;
  readonly nowMs: number;
  readonly newId: (prefix: IdPrefix) => string;
  readonly sensitivity: Sensitivity;
}

/** Gives drafts their place in the log and folds them. Sensitive values are moved out of what will be served. */
export function stamp(
  before: Run | undefined,
  drafts: readonly EventDraft[],
  { runId, nowMs, newId, sensitivity }: Stamping,
): { readonly run: Run; readonly events: RunEvent[] } {
  const timestamp = new Date(nowMs).toISOString();
  const events: RunEvent[] = [];
  let run = before;
  for (const draft of drafts) {
    const sequence: number = run?.version ?? 0;
    const sealed = sensitivity.variables.size === 0 ? draft : seal(draft, run, sensitivity);
    const event = { ...sealed, eventId: newId("evt"), runId, sequence, timestamp } as RunEvent;
    run = evolve(run, event);
    events.push(event);
  }
  if (run === undefined) throw new Error("stamp needs a run or a draft that starts one");
  return { run, events };
}

/** A payload that carries a sensitive value, by whatever way it got there, is kept sealed and shown masked. */
function seal(draft: EventDraft, run: Run | undefined, { variables }: Sensitivity): EventDraft {
  if (run === undefined) return draft;
  const secrets = sensitiveValues(run.variables, variables);
  if (draft.type === "variable.changed" && variables.has(draft.payload.name)) {
    secrets.push((draft.sealed ?? draft.payload).next);
  }
  const payload = maskValues<unknown>(draft.payload, secrets);
  if (JSON.stringify(payload) === JSON.stringify(draft.payload)) return draft;
  return { ...draft, payload, sealed: draft.sealed ?? draft.payload } as EventDraft;
}
