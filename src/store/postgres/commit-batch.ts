import { type Client, DatabaseError } from "pg";
import type { Change, Committed } from "../port/store.ts";
import type { Settled } from "../rows/group-commit.ts";
import { type Accepted, applyUnit, changeOf } from "./apply-unit.ts";
import { checkUnit } from "./check-unit.ts";
import { explain, isContended, isMistake } from "./database-trouble.ts";
import { notify } from "./notification.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import type { RunCounting } from "./run-counts.ts";
import { lockStandingRows, type StandingRows } from "./standing-rows.ts";
import { send, sendTransaction } from "./statements.ts";
import { writeRows } from "./write-rows.ts";

/** How often a batch that another process overtook looks again. Each time, that process has got something done. */
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
 * Throws when the database is in trouble. Then nothing of the batch is acknowledged; if the connection was lost during
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
  const standing = await lockStandingRows(client, batch, counting);
  const accepted: Accepted = { units: [], audit: [], history: [], work: false };
  const settled = batch.map((unit) => decide(unit, standing, accepted));

  const writes = writeRows(standing, accepted, counting);
  const end = { text: writes.length > 0 ? "commit" : "rollback" };
  const change = changeOf(accepted);
  const answers = await sendTransaction(client, writes, end, () => {
    if (change !== undefined) tellOthers(client, sender, change);
  });
  // After a failed statement a commit answers ROLLBACK, but then `sendTransaction` has thrown.
  if (answers.at(-1)?.command !== end.text.toUpperCase()) throw new Error("the database did not commit");
  return { settled, changes: change === undefined ? [] : [change] };
}

/**
 * Sent right behind the commit and not as part of it. Transactions that notify commit one after the other in all of
 * PostgreSQL, so that every process would wait for the disks of all others. When the commit fails, somebody looks in
 * vain; when the notification is lost, somebody looks later.
 */
function tellOthers(client: Client, sender: string, change: Change): void {
  send(client, [notify(sender, change)]).catch(() => {});
}

function decide(unit: PreparedUnit, standing: StandingRows, accepted: Accepted): Settled<Committed> {
  try {
    const refusal = checkUnit(unit, standing);
    if (refusal !== undefined) return { result: { ok: false, refusal } };
    applyUnit(unit, standing, accepted);
    return { result: { ok: true } };
  } catch (error) {
    return { error };
  }
}
