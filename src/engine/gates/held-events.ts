import { AppError } from "../../protocol/errors.ts";
import type { RunEvent } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { ExternalEventRecord } from "../../store/port/gates.ts";
import { auditDraft } from "../execute.ts";
import { withRunsWaiting } from "../families/waiting-runs.ts";
import { writeRuns } from "../families/write-runs.ts";
import type { Host } from "../host.ts";
import { ownTurn } from "../worker/pauses.ts";
import { giveHeldEvent } from "./decide/deliver-event.ts";
import { eventOf, keyOf } from "./event-record.ts";
import { receivedAnswer, withSecrets } from "./seal-answer.ts";

/**
 * A held event and the wait for it are written by two commits that know nothing of each other. Whoever has made one of
 * them looks for the other, so that at least one of the two finds both; the sweep is for those who did not get to it.
 * However many look, the commit that delivers is refused to all but one.
 */
export type HeldOutcome =
  | "delivered"
  /** It is too late for it, or those who wait do not wait for what it says. */
  | "not-taken"
  | "nobody-waits";

const ATTEMPTS = 20;

export async function deliverHeld(host: Host, record: ExternalEventRecord): Promise<HeldOutcome> {
  const held = eventOf(record);
  const { value: payload, secrets } = await receivedAnswer(host.scrubber, held.payload);
  const event = { ...held, payload };
  const { tenant } = record;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const nowMs = host.nowMs();
    if (record.expiresAtMs <= nowMs) return "not-taken";
    const outcome = await withRunsWaiting(host, event.reach, event, async (runs): Promise<HeldOutcome | undefined> => {
      const { waiting, given } = giveHeldEvent(runs, event, nowMs);
      if (given === undefined) return waiting > 0 ? "not-taken" : "nobody-waits";
      const { eventId, eventType, correlationId, by, keyId } = event;
      const { interruptId, nodeId } = given.interrupt;
      const answer = { ...given, events: withSecrets(given.events, secrets) };
      const details = { eventId, eventType, correlationId, interruptId, nodeId, heldSince: instant(record.atMs) };
      const note = { action: "external_event.delivered", details };
      const committed = await host.store.commit({
        tenant,
        runs: [...(await writeRuns(host, [answer])).values()],
        audit: [auditDraft({ principal: by, keyId }, nowMs, given.run.runId, note)],
        externalEvents: [
          // Its first answer stays the answer to its repetitions.
          {
            type: "delivered",
            key: keyOf(event),
            answer: record.answer,
            expiresAtMs: nowMs + host.gates.eventRetentionMs,
          },
        ],
      });
      return committed.ok || committed.refusal.type === "external-event" ? "delivered" : undefined;
    });
    if (outcome !== undefined) return outcome;
  }
  throw new AppError("unavailable", { reason: `Held event ${record.eventId} could not be delivered for now` });
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** The interrupts for external events that were raised by these events. */
export function externalWaits(events: readonly RunEvent[]): string[] {
  const raised: string[] = [];
  for (const event of events) {
    if (event.type !== "interrupt.requested" || event.payload.kind !== "external-event") continue;
    raised.push(event.payload.interruptId);
  }
  return raised;
}

/** How many held events of one kind are offered to a new wait. One is enough, unless it refuses what they say. */
const OFFERED = 100;

/** Looks for what came before the run waited for it. That the run waits is durable; when this fails, the sweep delivers. */
export async function offerHeld(host: Host, run: Run, interruptIds: readonly string[]): Promise<void> {
  try {
    for (const interruptId of interruptIds) await offerTo(host, run, interruptId);
  } catch {}
}

async function offerTo(host: Host, { interrupts, owner }: Run, interruptId: string): Promise<void> {
  const { correlationId, data } = interrupts[interruptId] ?? {};
  if (correlationId === undefined) return;
  const eventType = String(data?.["eventType"]);
  const { tenant, workspace = "" } = owner;
  const query = { tenant, correlationId, eventType, nowMs: host.nowMs(), limit: OFFERED };
  for (const held of await host.store.heldEvents(query)) {
    if (held.workspace !== "" && held.workspace !== workspace) continue;
    if ((await deliverHeld(host, held)) === "nobody-waits") return;
    // Each may be held against a thousand runs that wait.
    await ownTurn();
  }
}
