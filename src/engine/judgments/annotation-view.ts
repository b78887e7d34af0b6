import { defined } from "../../protocol/defined.ts";
import { instantMs, isoOf } from "../../protocol/instant.ts";
import type { Annotation } from "../../protocol/judgments/annotation.ts";
import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import type { Judgment } from "../../protocol/judgments/judgment-file.ts";
import type { AnnotationRecord, FlagState } from "../../store/port/judgments.ts";

/** A judgment as the protocol shows it, without later changes. */
export function annotationDoc(record: AnnotationRecord): Annotation {
  const { annotationId, runId, target, signal, actor, note, createdAtMs } = record;
  const subject = { annotationId, target: { runId, ...target }, signal, actor: { principalRef: actor } };
  return defined({ ...subject, note, createdAt: isoOf(createdAtMs) });
}

/** A judgment with all that Assay stores of it. */
export function annotationView(record: AnnotationRecord): AnnotationView {
  const { workflowId, agentId, otherAgents, actorKind, confidence, state, supersedes, supersededBy } = record;
  const { supersededAtMs, retraction, flag, queueItemId, importedBy, tapeRow } = record;
  return {
    ...annotationDoc(record),
    ...defined({
      workflowId,
      agentId,
      otherAgents: otherAgents && [...otherAgents],
      actorKind,
      confidence,
      state,
      supersedes,
      supersededBy,
      supersededAt: supersededAtMs === undefined ? undefined : isoOf(supersededAtMs),
      retraction: retraction && { by: retraction.by, at: isoOf(retraction.atMs), reason: retraction.reason },
      flag: flag && flagView(flag),
      queueItemId,
      importedBy,
      tapeRow,
    }),
  };
}

function flagView(flag: FlagState): NonNullable<AnnotationView["flag"]> {
  if (flag.status === "open") return { status: "open" };
  return { status: "closed", closedBy: flag.by, closedAt: isoOf(flag.atMs), note: flag.note };
}

/** A judgment in an export: with all that other hosts could not find out. */
export function judgmentOf(record: AnnotationRecord, muted = false): Judgment {
  const { workspace, aboutNode, target } = record;
  return {
    ...annotationView(record),
    ...(muted ? { muted: true } : {}),
    ...defined({ workspace }),
    ...(aboutNode === undefined || target.nodeId !== undefined ? {} : { aboutNode }),
  };
}

/** The members of an imported judgment that the importing host determines. */
interface Arrival {
  readonly tenant: string;
  readonly workspace?: string;
  readonly aboutNode?: string;
  readonly importedBy: string;
}

/** The record of an imported judgment, whose line was checked before. */
export function recordOf(judgment: Judgment, arrival: Arrival): AnnotationRecord {
  const { annotationId, target, signal, actor, note, createdAt, workflowId, agentId, otherAgents } = judgment;
  const { actorKind, confidence, state, supersedes, supersededBy, supersededAt, retraction, flag } = judgment;
  const { queueItemId, tapeRow } = judgment;
  const { runId, ...within } = target;
  return {
    annotationId,
    ...arrival,
    ...defined({
      runId,
      workflowId,
      agentId,
      otherAgents,
      target: within,
      signal,
      note,
      actor: actor.principalRef,
      actorKind,
      confidence,
      createdAtMs: msOf(createdAt),
      state,
      supersedes,
      supersededBy,
      supersededAtMs: supersededAt === undefined ? undefined : msOf(supersededAt),
      retraction: retraction && { by: retraction.by, atMs: msOf(retraction.at), reason: retraction.reason },
      flag: flag && flagOf(flag),
      queueItemId,
      tapeRow,
    }),
  };
}

function flagOf({ status, closedBy = "", closedAt = "", note = "" }: NonNullable<Judgment["flag"]>): FlagState {
  return status === "open" ? { status } : { status: "closed", by: closedBy, atMs: msOf(closedAt), note };
}

function msOf(instant: string): number {
  return instantMs(instant) ?? Number.NaN;
}
