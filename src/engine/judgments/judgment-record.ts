import { defined } from "../../protocol/defined.ts";
import { instantMs } from "../../protocol/instant.ts";
import type { Judgment } from "../../protocol/judgments/judgment-file.ts";
import type { AnnotationRecord, FlagState } from "../../store/port/judgments.ts";
import { annotationView } from "./annotation-view.ts";

/** What an export says of a judgment: all that Assay shows of it, and what no other host could find out. */
export function judgmentOf(record: AnnotationRecord, muted = false): Judgment {
  const { workspace, aboutNode, target } = record;
  return {
    ...annotationView(record),
    ...(muted ? { muted: true } : {}),
    ...defined({ workspace }),
    ...(aboutNode === undefined || target.nodeId !== undefined ? {} : { aboutNode }),
  };
}

/** What only the host that takes a judgment in can say of it. */
interface Arrival {
  readonly tenant: string;
  readonly workspace?: string;
  readonly aboutNode?: string;
  readonly importedBy: string;
}

/** The way back: a line that was read is well formed. */
export function recordOf(judgment: Judgment, arrival: Arrival): AnnotationRecord {
  const {
    annotationId,
    target,
    signal,
    actor,
    note,
    createdAt,
    workflowId,
    agentId,
    otherAgents,
    actorKind,
    confidence,
  } = judgment;
  const { state, supersedes, supersededBy, supersededAt, retraction, flag, queueItemId, tapeRow } = judgment;
  const { runId, ...within } = target;
  return {
    annotationId,
    ...arrival,
    runId,
    workflowId,
    ...defined({ agentId, otherAgents }),
    target: within,
    signal,
    ...defined({ note }),
    actor: actor.principalRef,
    actorKind,
    ...defined({ confidence }),
    createdAtMs: msOf(createdAt),
    state,
    ...defined({ supersedes, supersededBy }),
    ...(supersededAt === undefined ? {} : { supersededAtMs: msOf(supersededAt) }),
    ...(retraction === undefined
      ? {}
      : { retraction: { by: retraction.by, atMs: msOf(retraction.at), reason: retraction.reason } }),
    ...(flag === undefined ? {} : { flag: flagOf(flag) }),
    ...defined({ queueItemId, tapeRow }),
  };
}

function flagOf({ status, closedBy = "", closedAt = "", note = "" }: NonNullable<Judgment["flag"]>): FlagState {
  return status === "open" ? { status } : { status: "closed", by: closedBy, atMs: msOf(closedAt), note };
}

function msOf(instant: string): number {
  return instantMs(instant) ?? Number.NaN;
}
