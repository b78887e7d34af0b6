import { type Client, DatabaseError } from "pg";
import type { Change, Committed } from "../port/store.ts";
import { checkUnit, makesWork } from "../units/check-unit.ts";
import type { Settled } from "../units/group-commit.ts";
import { changeOf, type PreparedUnit, topicsOf } from "../units/prepare-unit.ts";
import { type Accepted, applyUnit } from "./apply-unit.ts";
import type { LockedRows } from "./current-rows.ts";
import { explain, isContended, isMistake } from "./database-error.ts";
import { notify } from "./listen.ts";
import { lockRows } from "./lock-rows.ts";
import type { RunCounting } from "./run-counts.ts";
import { send, sendTransaction } from "./statements.ts";
import { writeRows } from "./write-rows.ts";

/** Retries of a batch that lost a race. Each time, the other process has made progress. */
const ATTEMPTS_MAX = 8;

/** The connection of the writer; after `drop`, `open` makes a new one. */
export interface WriterConnection {
  open(): Promise<Client>;
  drop(client: Client): void;
}

export interface CommittedBatch {
  readonly settled: Settled<Committed>[];
  readonly changes: readonly Change[];
}

/**
 * Commits a batch in one transaction and two round trips: lock and read, then write and commit. Units are checked one
 * by one against the locked rows and against what the units before them did; a refused unit is not written. A unit
 * whose values the database refuses, or the driver cannot send, fails alone: the batch is halved until the unit is by
 * itself.
 *
 * Throws when the database fails. Then nothing of the batch is acknowledged; if the connection was lost during
 * the commit it may have happened all the same, and only a reader can tell.
 */
export async function commitBatch(
  connection: WriterConnection,
  batch: readonly PreparedUnit[],
  sender: string,
  counting: RunCounting,
): Promise<CommittedBatch> {
  for (let attempt = 1; ; attempt++) {
    const client = await connection.open();
    try {
      return await transact(client, batch, sender, counting);
    } catch (error) {
      await abandon(connection, client, error);
      if (isContended(error) && attempt < ATTEMPTS_MAX) continue;
      if (!isMistake(error)) throw error;
      if (batch.length === 1) return { settled: [{ error: explain(error) }], changes: [] };
      const middle = batch.length >> 1;
      const first = await commitBatch(connection, batch.slice(0, middle), sender, counting);
      const second = await commitBatch(connection, batch.slice(middle), sender, counting);
      return { settled: [...first.settled, ...second.settled], changes: [...first.changes, ...second.changes] };
    }
  }
}

/**
 * Ends the transaction of a failed attempt. After a failure that the server did not report, server and driver may disagree about which statements
 * are prepared, so the connection is closed and the server rolls back.
 */
async function abandon(connection: WriterConnection, client: Client, error: unknown): Promise<void> {
  if (!(error instanceof DatabaseError)) connection.drop(client);
  else if (client.getTransactionStatus() !== "I") await client.query("rollback");
}

async function transact(
  client: Client,
  batch: readonly PreparedUnit[],
  sender: string,
  counting: RunCounting,
): Promise<CommittedBatch> {
  const current = await lockRows(client, batch, counting);
  const accepted: Accepted = { units: [], audit: [], history: [], work: false };
  const settled = batch.map((unit) => decide(unit, current, accepted));

  const writes = writeRows(current, accepted, counting);
  const end = { text: writes.length > 0 ? "commit" : "rollback" };
  const change = changeOfBatch(accepted);
  const answers = await sendTransaction(client, writes, end, () => {
    if (change !== undefined) notifyOthers(client, sender, change);
  });
  // After a failed statement a commit answers ROLLBACK, but then `sendTransaction` has thrown.
  if (answers.at(-1)?.command !== end.text.toUpperCase()) throw new Error("the database did not commit");
  return { settled, changes: change === undefined ? [] : [change] };
}

/**
 * Sent right behind the commit and not as part of it. Transactions that notify commit one after the other in all of
 * PostgreSQL, so that every process would wait for the disks of all others. When the commit fails, a listener
 * reads in vain; when the notification is lost, it reads later.
 */
function notifyOthers(client: Client, sender: string, change: Change): void {
  send(client, [notify(sender, change)]).catch(() => {});
}

function decide(unit: PreparedUnit, current: LockedRows, accepted: Accepted): Settled<Committed> {
  try {
    const { refusal, counts } = checkUnit(unit.checks, current);
    if (refusal !== undefined) return { result: { ok: false, refusal } };
    const work = makesWork(unit.checks, current);
    applyUnit(unit, counts, current, accepted);
    accepted.work ||= work;
    return { result: { ok: true } };
  } catch (error) {
    return { error };
  }
}

function changeOfBatch({ units, work }: Accepted): Change | undefined {
  const runIds = new Set<string>();
  for (const { checks } of units) {
    for (const { runId, appends } of checks.runs) if (appends) runIds.add(runId);
    for (const { runId } of checks.deletions) runIds.add(runId);
  }
  return changeOf(
    runIds,
    work,
    units.map(({ unit }) => topicsOf(unit)),
  );
}
