import { type Change, type Committed, NO_CHANGE, type Store } from "../port/store.ts";
import { forgetRuns } from "../read/delete-run.ts";
import { sharedStore } from "../read/shared-store.ts";
import { buryDeliveries, forgetUndelivered } from "../read/webhooks.ts";
import { toRun } from "../rows/rows.ts";
import { migrate, requireCurrentSchema } from "../schema/migrations.ts";
import { OF_HOST } from "../units/group-commit.ts";
import { changeOf, isLongUnit, type Topics, writeEvents } from "../units/prepare-unit.ts";
import { explain } from "./database-error.ts";
import { FileHealth } from "./file-health.ts";
import { flattenAttempt, flattenUnit } from "./flatten-unit.ts";
import { hotReads } from "./hot-reads.ts";
import { kyselyForTenants, kyselyOver, kyselyThrough } from "./kysely-dialect.ts";
import {
  databasePath,
  IN_MEMORY,
  makeDatabaseFile,
  openForReading,
  openForWriting,
  type SqliteDatabase,
} from "./open-database.ts";
import type { Operation, Outcome } from "./operations.ts";
import { type OwnerLock, takeOwnership } from "./owner-lock.ts";
import { type WriteConnection, Writer, writeInAnotherThread, writeInThisThread } from "./writer.ts";

export interface SqliteStoreOptions {
  /** A file, or `:memory:`. The folder is made when it is missing. */
  readonly path: string;
  /** Whether an older schema is brought up to date; otherwise it is refused with `schema_outdated`. */
  readonly migrate?: boolean;
}

/** The store in one file, owned by this process until it is closed. Throws `database_in_use` when another owns it. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const connections = options.path === IN_MEMORY ? await openInMemory() : await openFile(options);
  return storeOver(connections);
}

interface Connections {
  readonly reader: SqliteDatabase;
  readonly writer: WriteConnection;
  readonly lock?: OwnerLock;
  /** Absent for a database in memory. */
  readonly path?: string;
}

async function openInMemory(): Promise<Connections> {
  const db = await openForWriting(IN_MEMORY);
  await migrate(kyselyOver(db));
  return { reader: db, writer: writeInThisThread(db) };
}

async function openFile({ path: given, migrate: mayMigrate = true }: SqliteStoreOptions): Promise<Connections> {
  const path = databasePath(given);
  const lock = await takeOwnership(path);
  try {
    makeDatabaseFile(path);
    await prepareFile(path, mayMigrate);
    const reader = await openForReading(path);
    const writer = await writeInAnotherThread(path).catch((error) => {
      reader.close();
      throw error;
    });
    return { reader, writer, lock, path };
  } catch (error) {
    lock.release();
    throw explain(error);
  }
}

async function prepareFile(path: string, mayMigrate: boolean): Promise<void> {
  const db = await openForWriting(path);
  try {
    await (mayMigrate ? migrate : requireCurrentSchema)(kyselyOver(db));
    // Leases belong to the previous owner of this file, which has ended.
    for (const table of ["runs", "deliveries"]) {
      db.exec(`update ${table} set lease_owner = null, lease_until = null where lease_owner is not null`);
    }
  } finally {
    db.close();
  }
}

function storeOver({ reader, writer: connection, lock, path }: Connections): Store {
  const listeners = new Set<(change: Change) => void>();
  const tell = (change: Change) => {
    for (const listener of listeners) listener(change);
  };
  const writer = new Writer(connection, (operations, outcomes) => {
    const change = changeOfBatch(operations, outcomes);
    if (change !== undefined) tell(change);
  });
  const rowsOf = async (operation: Operation) => expectRows(await writer.run(operation));
  const write = kyselyThrough((sql, parameters) => rowsOf({ kind: "statement", sql, parameters }));
  let closing: Promise<void> | undefined;

  const handles = kyselyForTenants(reader);
  const read = handles(OF_HOST);
  const shared = sharedStore(handles, () => write);
  const health = new FileHealth(path);

  return health.watch({
    ...shared,
    ...hotReads(reader),

    async commit(unit): Promise<Committed> {
      if (unit.deletions !== undefined) await forgetRuns({ read, write }, unit.tenant, unit.deletions);
      if (unit.webhooks !== undefined) await forgetUndelivered({ read, write }, unit);
      const texts = isLongUnit(unit) ? await writeEvents(unit) : undefined;
      const outcome = await writer.run({ kind: "unit", unit: flattenUnit(unit, texts) });
      if (outcome.kind === "committed") return { ok: true };
      if (outcome.kind === "refused") return { ok: false, refusal: outcome.refusal };
      throw new Error(`a unit came to the outcome ${outcome.kind}`);
    },

    async claimRuns(claim) {
      const { rows } = await rowsOf({ kind: "claim", claim });
      return rows.map((state) => toRun({ state: state as string }));
    },

    async renewLeases(owner, runIds, untilMs) {
      const { rows } = await rowsOf({ kind: "renew", owner, runIds, untilMs });
      return rows as string[];
    },

    async finishAttempt(attempt) {
      const { changes } = await rowsOf(flattenAttempt(attempt));
      if (changes > 0 && attempt.webhook?.disabledAtMs !== undefined) {
        await buryDeliveries(write, attempt.webhook.webhookId, attempt.atMs);
        tell({ ...NO_CHANGE, webhooks: true });
      }
      return changes > 0;
    },

    async redeliver(visible, which, nowMs) {
      const due = await shared.redeliver(visible, which, nowMs);
      if (due > 0) tell({ ...NO_CHANGE, deliveries: true });
      return due;
    },

    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async ping() {
      health.check();
      await rowsOf({ kind: "statement", sql: PROBE, parameters: [Date.now()] });
    },

    close() {
      closing ??= writer.close().then(() => {
        reader.close();
        lock?.release();
      });
      return closing;
    },
  });
}

function changeOfBatch(operations: readonly Operation[], outcomes: readonly Outcome[]): Change | undefined {
  const runIds = new Set<string>();
  const topics: Topics[] = [];
  let work = false;
  for (const [i, operation] of operations.entries()) {
    const outcome = outcomes[i];
    if (operation.kind !== "unit" || outcome?.kind !== "committed") continue;
    const { checks } = operation.unit;
    for (const { runId, appends } of checks.runs) if (appends) runIds.add(runId);
    for (const { runId } of checks.deletions) runIds.add(runId);
    work ||= outcome.work;
    topics.push(operation.unit.topics);
  }
  return changeOf(runIds, work, topics);
}

/** As long as a small batch of events, so that a log without room for one is noticed. */
const PROBE = `insert into host_probes (name, at, filler) values ('ready', ?, zeroblob(16384))
  on conflict (name) do update set at = excluded.at, filler = excluded.filler`;

function expectRows(outcome: Outcome): Extract<Outcome, { kind: "rows" }> {
  if (outcome.kind === "rows") return outcome;
  throw new Error(`a statement came to the outcome ${outcome.kind}`);
}
