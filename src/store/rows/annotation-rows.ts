import { type RawBuilder, sql } from "kysely";
import { agentFields, agentList } from "../../protocol/agents/agent-of.ts";
import type { AnnotationPlace, AnnotationRecord, FlagState } from "../port/judgments.ts";
import { searchWords } from "../port/search-words.ts";
import type { AnnotationsTable, AnnotationTextsTable } from "../schema/judgments.ts";

/** Annotations to rows and back. */

/** The place before all annotations: an imported one may be from before 1970. */
export const FIRST_PLACE: AnnotationPlace = { createdAtMs: Number.MIN_SAFE_INTEGER, annotationId: "" };

/** SQL: what those columns of an annotation take that may be long. */
export const ANNOTATION_TEXT_BYTES = ["correction", "note", "tape_row", "retraction_reason", "flag_note"]
  .map((column) => `coalesce(octet_length(${column}), 0)`)
  .join(" + ");

export function toAnnotation(row: AnnotationsTable): AnnotationRecord {
  const flag = flagOf(row);
  return {
    annotationId: row.annotation_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    runId: row.run_id,
    workflowId: row.workflow_id,
    ...agentFields(agentsIn(row.agent_id)),
    target: {
      ...(row.event_id === null ? {} : { eventId: row.event_id }),
      ...(row.node_id === null ? {} : { nodeId: row.node_id }),
    },
    ...(row.about_node === null ? {} : { aboutNode: row.about_node }),
    signal: {
      kind: row.kind,
      ...(row.rating === null ? {} : { rating: row.rating }),
      ...(row.label === null ? {} : { label: row.label }),
      ...(row.correction === null ? {} : { correction: row.correction }),
    },
    ...(row.note === null ? {} : { note: row.note }),
    actor: row.actor,
    actorKind: row.actor_kind,
    ...(row.confidence === null ? {} : { confidence: row.confidence }),
    createdAtMs: row.created_at,
    state: row.state,
    ...(row.supersedes === null ? {} : { supersedes: row.supersedes }),
    ...(row.superseded_by === null ? {} : { supersededBy: row.superseded_by }),
    ...(row.superseded_at === null ? {} : { supersededAtMs: row.superseded_at }),
    ...(row.retracted_by === null || row.retracted_at === null
      ? {}
      : { retraction: { by: row.retracted_by, atMs: row.retracted_at, reason: row.retraction_reason ?? "" } }),
    ...(flag === undefined ? {} : { flag }),
    ...(row.queue_item_id === null ? {} : { queueItemId: row.queue_item_id }),
    ...(row.imported_by === null ? {} : { importedBy: row.imported_by }),
    ...(row.tape_row === null ? {} : { tapeRow: row.tape_row }),
  };
}

function flagOf(row: AnnotationsTable): FlagState | undefined {
  if (row.flag_status === "open") return { status: "open" };
  if (row.flag_closed_by === null || row.flag_closed_at === null) return undefined;
  return { status: "closed", by: row.flag_closed_by, atMs: row.flag_closed_at, note: row.flag_note ?? "" };
}

export function annotationRow(annotation: AnnotationRecord): AnnotationsTable {
  const { target, signal } = annotation;
  return {
    tenant: annotation.tenant,
    annotation_id: annotation.annotationId,
    workspace: annotation.workspace ?? null,
    run_id: annotation.runId,
    workflow_id: annotation.workflowId,
    agent_id: agentColumn(agentList(annotation)),
    event_id: target.eventId ?? null,
    node_id: target.nodeId ?? null,
    about_node: annotation.aboutNode ?? null,
    kind: signal.kind,
    rating: signal.rating ?? null,
    label: signal.label ?? null,
    actor: annotation.actor,
    actor_kind: annotation.actorKind,
    confidence: annotation.confidence ?? null,
    created_at: annotation.createdAtMs,
    supersedes: annotation.supersedes ?? null,
    ...lifecycleColumns(annotation),
    queue_item_id: annotation.queueItemId ?? null,
    imported_by: annotation.importedBy ?? null,
    correction: signal.correction ?? null,
    note: annotation.note ?? null,
    tape_row: annotation.tapeRow ?? null,
  };
}

/** The lifecycle of an annotation: the columns that change after it was recorded. */
function lifecycleColumns(annotation: AnnotationRecord) {
  const { state, supersededBy, supersededAtMs, retraction, flag } = annotation;
  const closed = flag?.status === "closed" ? flag : undefined;
  return {
    state,
    superseded_by: supersededBy ?? null,
    superseded_at: supersededAtMs ?? null,
    retracted_by: retraction?.by ?? null,
    retracted_at: retraction?.atMs ?? null,
    retraction_reason: retraction?.reason ?? null,
    flag_status: flag?.status ?? null,
    flag_closed_by: closed?.by ?? null,
    flag_closed_at: closed?.atMs ?? null,
    flag_note: closed?.note ?? null,
  };
}

/** Undefined for an annotation without words. */
export function textRow(
  row: Pick<AnnotationsTable, "tenant" | "annotation_id" | "note" | "correction">,
): AnnotationTextsTable | undefined {
  if (row.note === null && row.correction === null) return undefined;
  const words = searchWords(row.note ?? undefined, row.correction ?? undefined);
  if (words.length === 0) return undefined;
  return { tenant: row.tenant, annotation_id: row.annotation_id, words: words.join(" ") };
}

/**
 * Agents as one column, which indexes hold. One agent is its id, as rows of earlier versions have it. Several are JSON
 * strings, each between line feeds: JSON writes no line feed, so an id between two of them is found and nothing else.
 */
const BETWEEN = "\n";

/** The first value after all that begin with a line feed. */
const AFTER_BETWEEN = "\u000b";

/** PostgreSQL indexes no row above 2,704 bytes; an id alone has at most 1,024. Agents beyond that are left out. */
const MOST_BYTES = 1024;

export function agentColumn(agentIds: readonly string[]): string | null {
  const [only] = agentIds;
  if (only === undefined) return null;
  if (agentIds.length === 1 && !only.startsWith(BETWEEN)) return only;
  for (let count = agentIds.length; count > 0; count--) {
    const column = `${BETWEEN}${agentIds
      .slice(0, count)
      .map((id) => JSON.stringify(id))
      .join(BETWEEN)}${BETWEEN}`;
    if (Buffer.byteLength(column) <= MOST_BYTES) return column;
  }
  return only.startsWith(BETWEEN) ? null : only;
}

export function agentsIn(column: string | null): readonly string[] {
  if (column === null) return [];
  return several(column) ?? [column];
}

/** Undefined for one agent. Rows of earlier versions may hold an id that begins with a line feed, as it is. */
function several(column: string): string[] | undefined {
  if (!column.startsWith(BETWEEN) || !column.endsWith(BETWEEN)) return undefined;
  try {
    const ids: unknown[] = column
      .slice(1, -1)
      .split(BETWEEN)
      .map((part) => JSON.parse(part));
    return ids.every((id) => typeof id === "string") ? ids : undefined;
  } catch {
    return undefined;
  }
}

export function isSeveral(column: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${column} >= ${BETWEEN} and ${column} < ${AFTER_BETWEEN}`;
}

/** Whether the asked agent is the one of the column, or among several. By `replace`, which both databases have. */
export function holdsAgent(column: RawBuilder<unknown>, agentId: string): RawBuilder<boolean> {
  const found = `${BETWEEN}${JSON.stringify(agentId)}${BETWEEN}`;
  return sql<boolean>`(${column} = ${agentId} or (${isSeveral(column)} and replace(${column}, ${found}, '') <> ${column}))`;
}
