import { setImmediate as nextTurn } from "node:timers/promises";
import { fittingEvents, LARGE_EVENT_BYTES, LARGE_STATE_BYTES, rowPage } from "../port/large-rows.ts";
import type { Store } from "../port/store.ts";
import { countFitting } from "../read/fitting.ts";
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
import { explain } from "./database-error.ts";
import type { SqliteDatabase } from "./open-database.ts";

export type HotReads = Pick<
  Store,
  "readRun" | "readEvents" | "findEvent" | "annotationsOfRun" | "readIdempotency" | "findKey" | "membershipOf"
>;

/** Longer states are read one per turn of the event loop: a request may read hundreds of runs, and all others wait for each. */
const SHORT_STATE_BYTES = 32_768;

/** Events that are looked at in one go for an id; in longer logs than short ones, one such search per turn of the event loop. */
const EVENTS_AT_ONCE = 10_000;
const SHORT_LOG_EVENTS = 200;

interface SizedState {
  readonly bytes: number;
  /** Null where it is large. */
  readonly state: string | null;
}

type SizedEvent = Omit<RunEventsTable, "body"> & { readonly bytes: number; readonly body: string | null };

/** By tenant: a judgment that another tenant imported may be about a run of the same id. */
const OF_RUN = `from annotations
  where tenant = (select tenant from runs where run_id = ?) and run_id = ? and (created_at, annotation_id) > (?, ?)
  order by created_at, annotation_id limit ?`;
export const ANNOTATIONS_OF_RUN = `select * ${OF_RUN}`;
const ANNOTATION_SIZES = `select ${ANNOTATION_TEXT_BYTES} as bytes ${OF_RUN}`;

/**
 * The reads that requests make again and again, as prepared statements: building and compiling the same query with
 * Kysely costs several times what running it does. `postgres/hot-reads.ts` has the same.
 */
export function hotReads(db: SqliteDatabase): HotReads {
  const small = `octet_length(state) as bytes, case when octet_length(state) <= ${SHORT_STATE_BYTES} then state end as state`;
  const runOfTenant = db.prepare(`select ${small} from runs where run_id = ? and tenant = ?`);
  const runOfWorkspace = db.prepare(`select ${small} from runs where run_id = ? and tenant = ? and workspace = ?`);
  const largeRun = db.prepare("select state from runs where run_id = ? and tenant = ?");
  const size = "octet_length(body) + coalesce(octet_length(sealed), 0)";
  const events = db.prepare(
    `select sequence, type, ${size} as bytes,
    case when ${size} <= ${LARGE_EVENT_BYTES} then body end as body,
    case when ${size} <= ${LARGE_EVENT_BYTES} then sealed end as sealed
    from run_events where run_id = ? and sequence >= ? order by sequence limit ?`,
  );
  const largeEvent = db.prepare(
    "select sequence, type, body, sealed from run_events where run_id = ? and sequence = ?",
  );
  const lastEvent = db.prepare("select max(sequence) as last from run_events where run_id = ?");
  const event = db.prepare(
    `select sequence, type, body from run_events where run_id = ? and sequence >= ? and sequence < ?
    and substr(body, 1, ?) = ? limit 1`,
  );
  const annotations = db.prepare(ANNOTATIONS_OF_RUN);
  const annotationSizes = db.prepare(ANNOTATION_SIZES);
  const idempotency = db.prepare(
    `select digest, state, status, headers, body, lease_until from idempotency
    where tenant = ? and operation = ? and idem_key = ? and expires_at > ?`,
  );
  const key = db.prepare(
    `select api_keys.*, role_bindings.roles, role_bindings.group_names from api_keys left join role_bindings
    on role_bindings.tenant = api_keys.tenant and role_bindings.principal = api_keys.principal
    and role_bindings.workspace in ('', api_keys.workspace)
    where api_keys.hash = ? order by role_bindings.workspace`,
  );
  const bindings = db.prepare(
    `select roles, group_names from role_bindings where tenant = ? and workspace in ('', ?) and principal = ?
    order by workspace`,
  );

  const sizedRun = reading((runId: string, tenant: string, workspace: string | undefined) => {
    const row = workspace === undefined ? runOfTenant.get(runId, tenant) : runOfWorkspace.get(runId, tenant, workspace);
    return row as SizedState | undefined;
  });
  const readLarge = reading((runId: string, tenant: string) => {
    const row = largeRun.get(runId, tenant);
    return row === undefined ? undefined : toRun(row as { state: string });
  });

  const lastSequence = reading((runId: string) => (lastEvent.get(runId) as { last: number | null }).last ?? -1);
  const eventAmong = reading((runId: string, from: number, beginning: string) => {
    const row = event.get(runId, from, from + EVENTS_AT_ONCE, [...beginning].length, beginning);
    return row === undefined ? undefined : toEventPlace(row as RunEventsTable);
  });
  const turn = oneAfterTheOther();

  return {
    async readRun({ tenant, workspace, beforeLargeRead }, runId) {
      const found = await sizedRun(runId, tenant, workspace);
      if (found === undefined) return undefined;
      if (found.state !== null) return toRun({ state: found.state });
      if (found.bytes > LARGE_STATE_BYTES) await beforeLargeRead?.(found.bytes);
      await turn();
      return readLarge(runId, tenant);
    },
    readEvents: reading((runId, fromSequence, limit) => {
      const rows = events.all(runId, fromSequence, limit) as SizedEvent[];
      const fitting = fittingEvents(rows);
      const page = fitting.flatMap((row) => {
        const whole = row.body === null ? largeEvent.get(runId, row.sequence) : row;
        return whole === undefined ? [] : [toStoredEvent(whole as RunEventsTable)];
      });
      return rowPage(page, fitting.length < rows.length);
    }),
    async findEvent(runId, eventId) {
      const beginning = beginningOf(eventId);
      const last = await lastSequence(runId);
      for (let from = 0; from <= last; from += EVENTS_AT_ONCE) {
        if (last > SHORT_LOG_EVENTS) await turn();
        const place = await eventAmong(runId, from, beginning);
        if (place !== undefined) return place;
      }
      return undefined;
    },
    annotationsOfRun: reading((runId, after, limit) => {
      const { createdAtMs, annotationId } = after ?? FIRST_PLACE;
      const place = [runId, runId, createdAtMs, annotationId];
      const sizes = annotationSizes.all(...place, limit) as { bytes: number }[];
      const fitting = countFitting(sizes);
      const rows = annotations.all(...place, fitting) as AnnotationsTable[];
      return rowPage(rows.map(toAnnotation), fitting < sizes.length);
    }),
    readIdempotency: reading(({ tenant, operation, key: name }, nowMs) => {
      const row = idempotency.get(tenant, operation, name, nowMs);
      return row === undefined ? undefined : toIdempotencyRecord(row as IdempotencyColumns);
    }),
    findKey: reading((hash) => {
      const [first, ...rest] = key.all(hash) as KeyAndRoles[];
      return first === undefined ? undefined : toKeyRecord([first, ...rest]);
    }),
    membershipOf: reading(({ tenant, workspace = "" }, principal) =>
      toMembership(bindings.all(tenant, workspace, principal) as KeyAndRoles[]),
    ),
  };
}

function reading<A extends unknown[], R>(read: (...args: A) => R): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return read(...args);
    } catch (error) {
      throw explain(error);
    }
  };
}

/** Each caller waits for a turn of the event loop of its own. */
function oneAfterTheOther(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}
