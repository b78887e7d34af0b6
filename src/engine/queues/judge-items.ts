import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type { AdjudicateRequest, JudgeRequest, QueueItemView } from "../../protocol/queues/api.ts";
import type { AnnotationRecord, AnnotationWrite } from "../../store/port/judgments.ts";
import { visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { annotationOf, recording, requireOverruling } from "../judgments/annotate.ts";
import { actorKindOf } from "../judgments/decide/annotate.ts";
import { identityOf } from "../runs/run-identity.ts";
import {
  changeItem,
  type ItemChange,
  type ItemCommand,
  requirePerson,
  requireReviewer,
  type Seat,
  seatOf,
} from "./change-item.ts";
import { adjudicateItem, earlierJudgments, judgeItem } from "./decide/judge-item.ts";
import { type Said, saidOf } from "./decide/judgment.ts";
import { mayAdjudicate } from "./decide/reviewers.ts";
import type { StoredItem } from "./item-record.ts";
import { requireOpenQueue } from "./queue-record.ts";

/** The item's next state and the annotations that the judgment is, in one commit. */
export async function judge(host: Host, command: ItemCommand<JudgeRequest>): Promise<QueueItemView> {
  const { caller, request } = command;
  const seat = await seatOf(host, caller, command.queueId);
  requireReviewer(seat);
  requireOpenQueue(seat.queue);
  const { rules } = seat.queue;
  const said = saidOf(rules, request);
  const { revise = false, confidence } = request;
  return changeItem(host, seat, command, async (stored, atMs) => {
    const reviewer = caller.principal;
    const decide = (annotationIds: readonly string[]) => {
      const judgment = { kind: actorKindOf(caller.kind), value: request.value, annotationIds };
      return judgeItem(stored.item, rules, { reviewer, atMs, judgment, revise });
    };
    // Refused before anything is looked up for it.
    decide([]);
    const earlier = await liveOf(host, caller.tenant, stored, reviewer);
    for (const one of earlier) requireOverruling(caller, one);
    const made = await annotations(host, seat, stored, said, { confidence, earlier });
    return { ...made, item: decide(made.ids), audit: noteOf("queue.judge", stored) };
  });
}

/** A final judgment, beside those of the reviewers and in place of none of them. */
export async function adjudicate(host: Host, command: ItemCommand<AdjudicateRequest>): Promise<QueueItemView> {
  const { caller, request } = command;
  const seat = await seatOf(host, caller, command.queueId);
  const { rules } = seat.queue;
  if (!mayAdjudicate(rules, seat.reviewer)) {
    throw new AppError("forbidden", { problem: "adjudicating here is for queues:manage, or whom the queue names" });
  }
  requirePerson(seat);
  const said = saidOf(rules, request);
  return changeItem(host, seat, command, async (stored, atMs) => {
    const decide = (annotationIds: readonly string[]) => {
      const judgment = { kind: actorKindOf(caller.kind), value: request.value, annotationIds };
      return adjudicateItem(stored.item, rules, { reviewer: caller.principal, atMs, judgment });
    };
    decide([]);
    const made = await annotations(host, seat, stored, said, { earlier: [] });
    return { ...made, item: decide(made.ids), audit: noteOf("queue.adjudicate", stored) };
  });
}

function noteOf(action: string, { record: { runId }, item: { round } }: StoredItem) {
  return { action, details: { runId, round } };
}

/** What a reviewer said about the item before and still stands, newest first. */
async function liveOf(host: Host, tenant: string, { item }: StoredItem, reviewer: string): Promise<AnnotationRecord[]> {
  const ids = earlierJudgments(item, reviewer).flatMap(({ annotationIds }) => annotationIds);
  if (ids.length === 0) return [];
  const found = await host.store.annotationsById(tenant, ids);
  const live = found.filter(({ state, actor }) => state === "live" && actor === reviewer);
  return live.sort((a, b) => ids.indexOf(a.annotationId) - ids.indexOf(b.annotationId));
}

interface SideWrites {
  readonly confidence?: number | undefined;
  readonly earlier: readonly AnnotationRecord[];
}

/** A judgment takes the place of an earlier one, a correction that of an earlier correction; one that is not given again is withdrawn. */
async function annotations(
  host: Host,
  { caller }: Seat,
  { record, about }: StoredItem,
  said: readonly Said[],
  { confidence, earlier }: SideWrites,
): Promise<Pick<ItemChange, "beside"> & { readonly ids: readonly string[] }> {
  const run = await visibleRun(host, caller, record.runId);
  const target = targetOf(about);
  const records = [];
  for (const [i, one] of said.entries()) {
    const before = earlier.find(({ signal }) => isCorrection(signal) === isCorrection(one.signal));
    const request = {
      ...target,
      ...one,
      ...(i === 0 && confidence !== undefined ? { confidence } : {}),
      ...(before === undefined ? {} : { supersedes: before.annotationId }),
    };
    const annotation = { ...(await annotationOf(host, caller, identityOf(run), request)), queueItemId: record.itemId };
    records.push(defined({ annotation, earlier: before }));
  }
  const replaced = new Set(records.map(({ annotation }) => annotation.supersedes));
  const dropped = earlier.filter((one) => isCorrection(one.signal) && !replaced.has(one.annotationId));
  const recorded = recording(caller, records);
  const withdrawals = dropped.map((one) => withdrawal(one, caller.principal, host.nowMs()));
  return {
    ids: records.map(({ annotation }) => annotation.annotationId),
    beside: {
      annotations: [...(recorded.annotations ?? []), ...withdrawals],
      ...defined({ audit: recorded.audit }),
    },
  };
}

function targetOf({ nodeId, eventId }: StoredItem["about"]): Pick<AnnotateRequest, "target"> {
  if (eventId !== undefined) return { target: { eventId } };
  return nodeId === undefined ? {} : { target: { nodeId } };
}

function isCorrection({ kind }: AnnotationRecord["signal"]): boolean {
  return kind === "correction";
}

function withdrawal(earlier: AnnotationRecord, by: string, atMs: number): AnnotationWrite {
  return { type: "retract", earlier, retraction: { by, atMs, reason: "judged anew in the review queue" } };
}
