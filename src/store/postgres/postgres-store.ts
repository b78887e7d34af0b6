import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { type Change, NO_CHANGE, type Store, type Unit } from "../port/store.ts";
import { forgetRuns } from "../read/delete-run.ts";
import { over, sharedStore } from "../read/shared-store.ts";
import { forgetUndelivered } from "../read/webhooks.ts";
import { migrate, requireCurrentSchema } from "../schema/migrations.ts";
import type { Tables } from "../schema/tables.ts";
import { OF_HOST } from "../units/group-commit.ts";
import { type ConnectionSettings, kyselyOn, openPool } from "./connection.ts";
import { closedError, explain, explainOpening } from "./database-error.ts";
import * as hot from "./hot-reads.ts";
import { claimRuns, finishAttempt, renewLeases } from "./leases.ts";
import { Listener, Listeners, notify } from "./listen.ts";
import { ConnectionTurns, tenantPools } from "./tenant-pool.ts";
import { Writer } from "./writer.ts";

export interface PostgresSettings {
  readonly url: string;
  /** Brings the schema up to date; without it, a database that is not throws `schema_outdated`. */
  readonly migrate?: boolean;
  /** Connections for reads and claims. One for commits and one for notifications come on top. */
  readonly poolSize?: number;
  readonly statementTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
}

/** One row for some of the hosts: none is left behind by a process, and few wait for each other. */
const PROBE = `insert into host_probes (name, at) values ($1, $2)
  on conflict (name) do update set at = excluded.at`;

/** A store in PostgreSQL, which any number of processes may share. Throws `unavailable` when it cannot be reached. */
export async function openPostgresStore(settings: PostgresSettings): Promise<Store> {
  const { url, poolSize = 12, statementTimeoutMs = 10_000, connectTimeoutMs = 5_000 } = settings;
  const connection = { url, statementTimeoutMs, connectTimeoutMs };
  const sender = randomUUID();
  const listeners = new Listeners();
  const notifyListeners = (change: Change): void => listeners.notify(change);
  const writer = new Writer(connection, sender, notifyListeners);
  const listener = new Listener(connection, sender, notifyListeners);
  const pool = openPool(connection, poolSize);
  try {
    await prepareSchema(connection, settings.migrate ?? true);
    await listener.open();
  } catch (error) {
    await pool.end();
    throw explainOpening(error);
  }

  const { queries, db } = tenantPools(pool, new ConnectionTurns(poolSize, connectTimeoutMs));
  const shared = sharedStore(db, db);
  const ofHost = queries(OF_HOST);
  /** Notifies all processes of changes outside a commit. A process that misses it polls. */
  const notifyAll = (change: Change): void => {
    notifyListeners(change);
    const { text, values = [] } = notify(sender, change);
    ofHost.query(text, [...values]).catch(() => {});
  };
  let closing: Promise<void> | undefined;
  const asked = guard(() => closing === undefined, {
    ...shared,
    ...over(queries, hot),
    claimRuns: (claim) => claimRuns(ofHost, claim),
    renewLeases: (owner, runIds, untilMs) => renewLeases(ofHost, owner, runIds, untilMs),
    finishAttempt: async (attempt) => {
      const finished = await finishAttempt(ofHost, attempt);
      if (finished && attempt.webhook?.disabledAtMs !== undefined) notifyAll({ ...NO_CHANGE, webhooks: true });
      return finished;
    },
    redeliver: async (visible, which, nowMs) => {
      const due = await shared.redeliver(visible, which, nowMs);
      if (due > 0) notifyAll({ ...NO_CHANGE, deliveries: true });
      return due;
    },
    ping: async () => void (await ofHost.query(PROBE, [sender.slice(0, 1), Date.now()])),
  });
  const close = async (): Promise<void> => {
    await writer.close();
    await listener.close();
    await pool.end();
  };
  return {
    ...asked,
    commit: async (unit) => {
      if (closing !== undefined) throw closedError();
      await removeAhead(db(unit.tenant), unit);
      return writer.commit(unit);
    },
    onChange: (listener) => listeners.add(listener),
    close: () => (closing ??= close()),
  };
}

/** Removes what is too much for the transaction of its unit: all commits of this process would wait for it. */
async function removeAhead(db: Kysely<Tables>, unit: Unit): Promise<void> {
  const handles = { read: db, write: db };
  try {
    if (unit.deletions !== undefined) await forgetRuns(handles, unit.tenant, unit.deletions);
    if (unit.webhooks !== undefined) await forgetUndelivered(handles, unit);
  } catch (error) {
    throw explain(error);
  }
}

/** Migrations may take their time and wait for those of another process, so they have connections without a limit. */
async function prepareSchema(connection: ConnectionSettings, mayMigrate: boolean): Promise<void> {
  const pool = openPool({ ...connection, statementTimeoutMs: 0 }, 2);
  try {
    await (mayMigrate ? migrate : requireCurrentSchema)(kyselyOn(pool));
  } finally {
    await pool.end();
  }
}

type StoreMethods = Omit<Store, "commit" | "onChange" | "close">;

/** Every method, refusing when the store is closed and mapping database errors to `unavailable`. */
function guard(isOpen: () => boolean, methods: StoreMethods): StoreMethods {
  const guarded = Object.entries<(...args: never[]) => Promise<unknown>>(methods).map(([name, method]) => [
    name,
    async (...args: never[]) => {
      if (!isOpen()) throw closedError();
      try {
        return await method(...args);
      } catch (error) {
        throw explain(error);
      }
    },
  ]);
  return Object.fromEntries(guarded) as StoreMethods;
}
