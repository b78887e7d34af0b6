import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Membership } from "../port/gates.ts";
import type { AnnotationPlace, AnnotationRecord, EventPlace } from "../port/judgments.ts";
import { fittingEvents, LARGE_EVENT_BYTES, LARGE_STATE_BYTES, type RowPage, rowPage } from "../port/large-rows.ts";
import type { EventPage, IdempotencyKey, IdempotencyRecord, KeyRecord } from "../port/store.ts";
import { fittingPage } from "../read/fitting.ts";
import { beginningOf, toEventPlace } from "../read/run-heads.ts";
import { ANNOTATION_TEXT_BYTES, FIRST_PLACE, toAnnotation } from "../rows/annotation-rows.ts";
import {
  type IdempotencyColumns,
  type KeyAndRoles,
  toIdempotencyRecord,
  toKeyRecord,
  toMembership,
  toRun,
  toStoredEvent,
} from "../rows/rows.ts";
import type { AnnotationsTable } from "../schema/judgments.ts";
import type { RunEventsTable } from "../schema/runs.ts";
import { prepared } from "./statements.ts";
import type { Queries } from "./tenant-pool.ts";

/**
 * The reads that requests and streams make all the time, as statements which each connection parses and plans once.
 * They answer as their namesakes in `sqlite/hot-reads.ts` do.
 */

const READ_RUN = `select octet_length(state) as bytes,
    case when octet_length(state) <= ${LARGE_STATE_BYTES} then state end as state
  from runs where run_id = $1 and tenant = $2 and ($3::text is null or workspace = $3)`;
const READ_LARGE_RUN = "select state from runs where run_id = $1 and tenant = $2";

export async function readRun(pool: Queries, visible: Visibility, runId: string): Promise<Run | undefined> {
  const values = [runId, visible.tenant, visible.workspace ?? null];
  type Row = { readonly bytes: number; readonly state: string | null };
  const { rows } = await pool.query<Row>({ ...prepared("read run", READ_RUN), values });
  const found = rows[0];
  if (found === undefined) return undefined;
  if (found.state !== null) return toRun({ state: found.state });
  await visible.beforeLargeRead?.(found.bytes);
  const large = { ...prepared("read large run", READ_LARGE_RUN), values: [runId, visible.tenant] };
  const { rows: whole } = await pool.query<{ state: string }>(large);
  return whole[0] && toRun(whole[0]);
}

const EVENT_BYTES = "(octet_length(body) + coalesce(octet_length(sealed), 0))";
const READ_EVENTS = `select sequence, type, ${EVENT_BYTES} as bytes,
    case when ${EVENT_BYTES} <= ${LARGE_EVENT_BYTES} then body end as body,
    case when ${EVENT_BYTES} <= ${LARGE_EVENT_BYTES} then sealed end as sealed
  from run_events where run_id = $1 and sequence >= $2 order by sequence limit $3`;
const READ_LARGE_EVENTS = `select sequence, type, body, sealed from run_events
  where run_id = $1 and sequence = any($2) order by sequence`;

type SizedEvent = Omit<RunEventsTable, "body"> & { readonly bytes: number; readonly body: string | null };

export async function readEvents(
  pool: Queries,
  runId: string,
  fromSequence: number,
  limit: number,
): Promise<EventPage> {
  const values = [runId, fromSequence, limit];
  const { rows } = await pool.query<SizedEvent>({ ...prepared("read events", READ_EVENTS), values });
  const fitting = fittingEvents(rows);
  const cut = fitting.length < rows.length;
  const large = fitting.filter(({ body }) => body === null).map(({ sequence }) => sequence);
  if (large.length === 0) return rowPage((fitting as readonly RunEventsTable[]).map(toStoredEvent), cut);
  const query = { ...prepared("read large events", READ_LARGE_EVENTS), values: [runId, large] };
  const whole = new Map((await pool.query<RunEventsTable>(query)).rows.map((row) => [row.sequence, row]));
  const page = fitting.flatMap((row) => {
    const one = row.body === null ? whole.get(row.sequence) : (row as RunEventsTable);
    return one === undefined ? [] : [toStoredEvent(one)];
  });
  return rowPage(page, cut);
}

const FIND_EVENT = `select sequence, type, body from run_events
  where run_id = $1 and substr(body, 1, $2) = $3 limit 1`;

export async function findEvent(pool: Queries, runId: string, eventId: string): Promise<EventPlace | undefined> {
  const beginning = beginningOf(eventId);
  const values = [runId, [...beginning].length, beginning];
  const { rows } = await pool.query<RunEventsTable>({ ...prepared("find event", FIND_EVENT), values });
  return rows[0] && toEventPlace(rows[0]);
}

// By tenant: a judgment that another tenant imported may be about a run of the same id.
const OF_RUN = `from annotations
  where tenant = (select tenant from runs where run_id = $1) and run_id = $1 and (created_at, annotation_id) > ($2, $3)
  order by created_at, annotation_id limit $4`;
const ANNOTATIONS_OF_RUN = `select * ${OF_RUN}`;
const ANNOTATION_SIZES = `select ${ANNOTATION_TEXT_BYTES} as bytes ${OF_RUN}`;

export async function annotationsOfRun(
  pool: Queries,
  runId: string,
  after: AnnotationPlace | undefined,
  limit: number,
): Promise<RowPage<AnnotationRecord>> {
  const { createdAtMs, annotationId } = after ?? FIRST_PLACE;
  const place = [runId, createdAtMs, annotationId];
  const sizes = { ...prepared("annotation sizes of run", ANNOTATION_SIZES), values: [...place, limit] };
  const of = (most: number) => ({
    ...prepared("annotations of run", ANNOTATIONS_OF_RUN),
    values: [...place, most],
  });
  return fittingPage(limit, {
    sizes: async () => (await pool.query<{ readonly bytes: number }>(sizes)).rows,
    rows: async (most) => (await pool.query<AnnotationsTable>(of(most))).rows.map(toAnnotation),
  });
}

const READ_IDEMPOTENCY = `select digest, state, status, headers, body, lease_until from idempotency
  where tenant = $1 and operation = $2 and idem_key = $3 and expires_at > $4`;

export async function readIdempotency(
  pool: Queries,
  { tenant, operation, key }: IdempotencyKey,
  nowMs: number,
): Promise<IdempotencyRecord | undefined> {
  const values = [tenant, operation, key, nowMs];
  const { rows } = await pool.query<IdempotencyColumns>({ ...prepared("read idempotency", READ_IDEMPOTENCY), values });
  return rows[0] && toIdempotencyRecord(rows[0]);
}

// An array and not an `or`, which the index on (tenant, workspace, principal) could not answer.
const FIND_KEY = `select key.*, binding.roles, binding.group_names from api_keys as key
  left join role_bindings as binding on binding.tenant = key.tenant
    and binding.workspace = any (array['', key.workspace]) and binding.principal = key.principal
  where key.hash = $1 order by binding.workspace`;

export async function findKey(pool: Queries, hash: string): Promise<KeyRecord | undefined> {
  const { rows } = await pool.query<KeyAndRoles>({ ...prepared("find key", FIND_KEY), values: [hash] });
  const [first, ...rest] = rows;
  return first && toKeyRecord([first, ...rest]);
}

const MEMBERSHIP_OF = `select roles, group_names from role_bindings
  where tenant = $1 and workspace = any (array['', $2::text]) and principal = $3 order by workspace`;

export async function membershipOf(
  pool: Queries,
  { tenant, workspace = "" }: Visibility,
  principal: string,
): Promise<Membership> {
  const values = [tenant, workspace, principal];
  const { rows } = await pool.query<KeyAndRoles>({ ...prepared("membership of", MEMBERSHIP_OF), values });
  return toMembership(rows);
}
