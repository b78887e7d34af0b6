import { isMadeHere } from "../../engine/judgments/may-replace.ts";
import { requireKept } from "../../engine/judgments/require-kept.ts";
import { adjudicationsOf } from "../../engine/queues/decide/hold-item.ts";
import { storedItem } from "../../engine/queues/item-record.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AnnotationPlace, AnnotationRecord } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import type { ScoreJudgment } from "./fold-overrides.ts";
import { scoredEvents } from "./scored-events.ts";

type Reads = Pick<Store, "readEvents" | "listAnnotations" | "queueItemsById" | "readTombstone">;

const PAGE = 500;

/**
 * All judgments about the scores of an evaluation, by any author and in any state. With `blindFor`, without those that a blind
 * queue hides from that reviewer.
 */
export async function scoreJudgments(
  store: Reads,
  { runId, owner }: Pick<Run, "runId" | "owner">,
  blindFor?: string,
): Promise<ScoreJudgment[]> {
  const about = (await annotationsOf(store, owner.tenant, runId, blindFor)).filter(
    ({ target }) => target.eventId !== undefined,
  );
  await requireKept(store, { runId, owner });
  // Most evaluations have no judgments, and their logs are long.
  if (about.length === 0) return [];
  const tasks = new Map((await scoredEvents(store, runId)).map(({ eventId, taskId }) => [eventId, taskId]));
  const adjudicated = await adjudicatedAmong(store, owner.tenant, about);
  return about.flatMap((record) => {
    const { annotationId, target, actor, actorKind, createdAtMs, state, retraction, signal, flag } = record;
    const eventId = target.eventId ?? "";
    const taskId = tasks.get(eventId);
    if (taskId === undefined) return [];
    return {
      taskId,
      eventId,
      annotationId,
      by: actor,
      actorKind,
      atMs: createdAtMs,
      state,
      ...(retraction === undefined ? {} : { retractedBy: retraction.by }),
      signal,
      closed: flag?.status === "closed",
      adjudicated: adjudicated.has(annotationId),
      imported: !isMadeHere(record),
    };
  });
}

async function annotationsOf(
  store: Reads,
  tenant: string,
  runId: string,
  blindFor: string | undefined,
): Promise<AnnotationRecord[]> {
  const found: AnnotationRecord[] = [];
  const blind = blindFor === undefined ? {} : { blindFor };
  for (let after: AnnotationPlace | undefined; ; after = found.at(-1)) {
    const query = { runId, order: "oldest" as const, limit: PAGE, ...blind, ...(after && { after }) };
    const page = await store.listAnnotations({ tenant }, query);
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

/**
 * The ids of those that are the last word of a review queue on what its reviewers disagreed on. An item that is offered anew keeps those of
 * earlier rounds: otherwise who offers it could take the last word back.
 */
export async function adjudicatedAmong(
  store: Pick<Store, "queueItemsById">,
  tenant: string,
  records: readonly AnnotationRecord[],
): Promise<ReadonlySet<string>> {
  const itemIds = [...new Set(records.flatMap(({ queueItemId }) => queueItemId ?? []))];
  const items = itemIds.length === 0 ? [] : await store.queueItemsById(tenant, itemIds);
  return new Set(items.flatMap((record) => adjudicationsOf(storedItem(record).item)));
}
