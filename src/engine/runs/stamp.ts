import type { EventDraft, RunEvent } from "../../protocol/events.ts";
import type { IdPrefix } from "../../protocol/id.ts";
import { evolve, type Run, type Scratch } from "../../protocol/runs/run.ts";
import { masked, maskPayload, type Secret } from "../../protocol/runs/sensitive.ts";

interface Stamping {
  readonly runId: string;
  readonly nowMs: number;
  readonly newId: (prefix: IdPrefix) => string;
  /** For folds of many drafts in a row whose intermediate runs are not kept. */
  readonly scratch?: Scratch;
}

/** Gives drafts their ids and places in the log, and folds them. */
export function stamp(
  before: Run | undefined,
  drafts: readonly EventDraft[],
  { runId, nowMs, newId, scratch = {} }: Stamping,
): { readonly run: Run; readonly events: RunEvent[] } {
  const timestamp = new Date(nowMs).toISOString();
  const events: RunEvent[] = [];
  let run = before;
  for (const draft of sealDrafts(before, drafts)) {
    const sequence: number = run?.version ?? 0;
    const event = { ...draft, eventId: draft.eventId ?? newId("evt"), runId, sequence, timestamp } as RunEvent;
    run = evolve(run, event, scratch);
    events.push(event);
  }
  if (run === undefined) throw new Error("stamp needs a run or a draft that starts one");
  return { run, events };
}

/** The drafts with sensitive values moved from the served payload to the sealed one. */
export function sealDrafts(before: Run | undefined, drafts: readonly EventDraft[]): readonly EventDraft[] {
  const secrets = secretsOf(before, drafts);
  return secrets.length === 0 ? drafts : drafts.map((draft) => seal(draft, secrets));
}

/** The secrets of the run and of these drafts: a draft may show a value that a later one masks. */
function secretsOf(run: Run | undefined, drafts: readonly EventDraft[]): readonly Secret[] {
  const known = run?.secrets ?? [];
  const more = drafts.flatMap(({ payload, sealed }) => (sealed === undefined ? [] : masked(payload, sealed)));
  return more.length === 0 ? known : [...known, ...more];
}

/** A payload with a sensitive value is stored sealed and served masked. */
function seal(draft: EventDraft, secrets: readonly Secret[]): EventDraft {
  const payload = maskPayload(draft.payload, secrets);
  if (JSON.stringify(payload) === JSON.stringify(draft.payload)) return draft;
  return { ...draft, payload, sealed: draft.sealed ?? draft.payload } as EventDraft;
}
