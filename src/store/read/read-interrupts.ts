import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { CorrelationQuery, InterruptQuery, StoredInterrupt } from "../port/gates.ts";
import { toStoredInterrupt } from "../rows/gate-rows.ts";
import type { InterruptsTable, InterruptVotesTable } from "../schema/gates.ts";
import type { Tables } from "../schema/tables.ts";

/** The index of the inbox holds only these. A literal, because SQLite does not look into parameters for that. */
const isOpen = sql<boolean>`status = 'open'`;

export async function openInterrupts(
  db: Kysely<Tables>,
  visible: Visibility,
  query: InterruptQuery,
): Promise<StoredInterrupt[]> {
  const { after = "", workflowId, kind, runId, nowMs, limit } = query;
  const rows = await visibleInterrupts(db, visible)
    .where(isOpen)
    .where("interrupt_id", ">", after)
    .where((one) => one.or([one("deadline", "is", null), one("deadline", ">", nowMs)]))
    .$if(workflowId !== undefined, (found) => found.where("workflow_id", "=", workflowId ?? ""))
    .$if(kind !== undefined, (found) => found.where("kind", "=", kind ?? ""))
    .$if(runId !== undefined, (found) => found.where("run_id", "=", runId ?? ""))
    .orderBy("interrupt_id")
    .limit(limit)
    .execute();
  return rows.map(toStoredInterrupt);
}

/** Ids per statement: few enough parameters for either database. */
const RUNS_AT_ONCE = 500;

export async function interruptsOfRuns(
  db: Kysely<Tables>,
  visible: Visibility,
  runIds: readonly string[],
): Promise<StoredInterrupt[]> {
  const found: StoredInterrupt[] = [];
  const ids = [...new Set(runIds)];
  for (let i = 0; i < ids.length; i += RUNS_AT_ONCE) {
    const rows = await visibleInterrupts(db, visible)
      .where("run_id", "in", ids.slice(i, i + RUNS_AT_ONCE))
      .orderBy("interrupt_id")
      .execute();
    found.push(...rows.map(toStoredInterrupt));
  }
  return found;
}

export async function readInterrupt(
  db: Kysely<Tables>,
  visible: Visibility,
  interruptId: string,
): Promise<StoredInterrupt | undefined> {
  const row = await visibleInterrupts(db, visible).where("interrupt_id", "=", interruptId).executeTakeFirst();
  return row && toStoredInterrupt(row);
}

export async function interruptsByCorrelation(
  db: Kysely<Tables>,
  visible: Visibility,
  { correlationId, eventType, open, limit }: CorrelationQuery,
): Promise<StoredInterrupt[]> {
  const rows = await visibleInterrupts(db, visible)
    .where("correlation_id", "=", correlationId)
    .where("event_type", "=", eventType)
    .$if(open, (found) => found.where(isOpen))
    .orderBy("interrupt_id", "desc")
    .limit(limit)
    .execute();
  return rows.map(toStoredInterrupt);
}

export async function interruptRows(
  db: Kysely<Tables>,
  runId: string,
): Promise<{ interrupts: InterruptsTable[]; votes: InterruptVotesTable[] }> {
  const ofRun = db.selectFrom("interrupts").where("run_id", "=", runId);
  const interrupts = await ofRun.selectAll().orderBy("interrupt_id").execute();
  const votes = await db
    .selectFrom("interrupt_votes")
    .selectAll()
    .where("interrupt_id", "in", ofRun.select("interrupt_id"))
    .orderBy("interrupt_id")
    .orderBy("voter")
    .execute();
  return { interrupts, votes };
}

function visibleInterrupts(db: Kysely<Tables>, { tenant, workspace }: Visibility) {
  return db
    .selectFrom("interrupts")
    .select(["interrupt_id", "tenant", "workspace", "run_id", "workflow_id", "started_by", "status", "body"])
    .where("tenant", "=", tenant)
    .$if(workspace !== undefined, (found) => found.where("workspace", "=", workspace ?? ""));
}
