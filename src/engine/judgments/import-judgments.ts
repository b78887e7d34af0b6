import { setImmediate as nextTurn } from "node:timers/promises";
import { type JudgmentEntry, JudgmentReader } from "../../formats/judgments/judgment-lines.ts";
import { defined } from "../../protocol/defined.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { ImportRequest, ImportResponse } from "../../protocol/judgments/judgment-file.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { cleanInTurns } from "../secrets/scrub-in-turns.ts";
import { type Arrivals, type Arriving, arrivalsOf } from "./arrivals.ts";
import { cleanRecord } from "./merge-judgment.ts";
import { receiver } from "./receive-judgment.ts";

interface ImportJudgments {
  readonly caller: Caller;
  readonly request: ImportRequest;
  readonly record: Recorder<ImportResponse>;
}

/** Somebody else may change the same judgments meanwhile; not for ever. */
const ATTEMPTS_MAX = 5;

/** Takes lines of an export in, all that can be in one commit. A line that cannot be taken stands in nobody's way. */
export async function importJudgments(
  host: Host,
  { caller, request, record }: ImportJudgments,
): Promise<ImportResponse> {
  const entries = entriesOf(request);
  for (let attempt = 1; ; attempt++) {
    const { answer, writes } = await arriving(host, caller, entries);
    if (request.dryRun || writes.length === 0) return answer;
    const outcome = record(answer);
    const { imported, updated } = answer;
    const annotationIds = writes.map(({ annotation }) => annotation.annotationId);
    const details = { count: writes.length, imported, updated, annotationIds };
    const committed = await host.store.commit({
      tenant: caller.tenant,
      annotations: writes,
      audit: [auditDraft(caller, host.nowMs(), "judgments", { action: "judgments.import", details })],
      ...defined({ idempotency: outcome }),
    });
    if (committed.ok) return answer;
    // A judgment has moved, or a run was deleted: the next look sees it.
    const { refusal } = committed;
    const moved = refusal.type === "annotation" || refusal.type === "version";
    if (!moved || attempt === ATTEMPTS_MAX) throw refused(refusal);
  }
}

/** Throws for lines that are of no export that can be read here. */
function entriesOf({ lines, firstLine = 2 }: ImportRequest): JudgmentEntry[] {
  const reader = new JudgmentReader();
  return lines.flatMap((value, i) => reader.take(value, i === 0 ? 1 : firstLine + i - 1) ?? []);
}

/** Lines that are received in one go; others have their turn after each. */
const AT_ONCE = 100;

async function arriving(host: Host, caller: Caller, entries: readonly JudgmentEntry[]): Promise<Arrivals> {
  const receive = receiver(host, caller);
  const received: Arriving[] = [];
  for (let i = 0; i < entries.length; i += AT_ONCE) {
    const some = await Promise.all(entries.slice(i, i + AT_ONCE).map(receive));
    received.push(...(await cleanInTurns(host.scrubber, (scrubText) => cleanRecords(some, scrubText))));
    await nextTurn();
  }
  const ids = received.flatMap((one) => ("problem" in one ? [] : [one.record.annotationId, one.record.supersedes]));
  const known = [...new Set(ids)].filter((id) => id !== undefined);
  const stored = known.length === 0 ? [] : await host.store.annotationsById(caller.tenant, known);
  // biome-ignore lint/correctness/useYield: merging takes no long but for the texts
  return cleanInTurns(host.scrubber, function* (scrubText) {
    return arrivalsOf(received, stored, scrubText);
  });
}

function* cleanRecords(
  received: readonly Arriving[],
  scrubText: (text: string) => string,
): Generator<void, Arriving[]> {
  const clean: Arriving[] = [];
  for (const one of received) {
    clean.push("problem" in one ? one : { ...one, record: cleanRecord(one.record, scrubText) });
    yield;
  }
  return clean;
}
