import { setImmediate as nextTurn } from "node:timers/promises";
import { isMadeHere } from "../../engine/judgments/may-replace.ts";
import { withoutTexts } from "../../engine/judgments/without-texts.ts";
import { adjudicationsOf } from "../../engine/queues/decide/change-item.ts";
import { storedItem } from "../../engine/queues/queue-records.ts";
import { requireKept } from "../../engine/runs/delete-run.ts";
import { defined } from "../../protocol/defined.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { AnnotationPlace, AnnotationQuery, AnnotationRecord } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";
import type { ScoreJudgment } from "./fold-overrides.ts";

type Reads = Pick<Store, "readEvents" | "listAnnotations" | "queueItemsById" | "readTombstone">;

/**
 * All judgments about the scores of an evaluation, by any author and in any state. With `blindFor`, without those that a blind
 * queue hides from that reviewer.
 */
export async function scoreJudgments(
  store: Reads,
  { runId, owner }: Pick<Run, "runId" | "owner">,
  blindFor?: string,
): Promise<ScoreJudgment[]> {
  const annotations = await annotationsOf(store, owner.tenant, { runId, ...defined({ blindFor }) });
  const about = annotations.filter(({ target }) => target.eventId !== undefined);
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

const ANNOTATIONS_PAGE = 500;

/** Annotations of a run that the query selects, the oldest first, without their texts. */
export async function annotationsOf(
  store: Pick<Store, "listAnnotations">,
  tenant: string,
  query: Omit<AnnotationQuery, "order" | "limit" | "after"> & { readonly runId: string },
): Promise<AnnotationRecord[]> {
  const found: AnnotationRecord[] = [];
  for (let after: AnnotationPlace | undefined; ; after = found.at(-1)) {
    const page = await store.listAnnotations(
      { tenant },
      { ...query, order: "oldest", limit: ANNOTATIONS_PAGE, ...defined({ after }) },
    );
    found.push(...page.map(withoutTexts));
    if (isLastPage(page, ANNOTATIONS_PAGE)) return found;
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

export interface ScoredEvent {
  readonly eventId: string;
  readonly sequence: number;
  readonly taskId: string;
}

const EVENTS_PAGE = 1000;

/** In the order of the log. */
export async function scoredEvents(store: Pick<Store, "readEvents">, runId: string): Promise<ScoredEvent[]> {
  const found: ScoredEvent[] = [];
  for (let from = 0; ; ) {
    const page = await store.readEvents(runId, from, EVENTS_PAGE);
    for (const event of page) if (event.type === "eval.scored") found.push(scoredIn(event));
    if (isLastPage(page, EVENTS_PAGE)) return found;
    from = (page.at(-1) as StoredEvent).sequence + 1;
    await nextTurn();
  }
}

function scoredIn({ body, sequence }: StoredEvent): ScoredEvent {
  const { eventId, payload } = JSON.parse(body) as { eventId: string; payload: { taskId: string } };
  return { eventId, sequence, taskId: payload.taskId };
}
