import type { Kysely } from "kysely";
import type { Pool, PoolClient } from "pg";
import { AppError } from "../../protocol/errors.ts";
import type { Handles } from "../read/shared-store.ts";
import type { Tables } from "../schema/tables.ts";
import { OF_HOST, TenantLine } from "../units/group-commit.ts";
import { kyselyOn } from "./connection.ts";

export type Queries = Pick<Pool, "query">;

/** Connections that reads for tenants leave to the host: leases are renewed and runs are claimed, whatever is asked for. */
const FOR_HOST = 2;

/** The part of the others that one tenant may use at a time. */
const TENANT_PART = 4 / 5;

interface Waiting {
  readonly tenant: string;
  readonly admit: () => void;
}

/**
 * Turns at the connections of a pool. A statement may take seconds, and a tenant may ask for many of them at once: it waits for its own, and
 * others have theirs meanwhile.
 */
export class ConnectionTurns {
  readonly #total: number;
  readonly #ofTenants: number;
  readonly #ofOne: number;
  readonly #waitMs: number;
  readonly #used = new Map<string, number>();
  readonly #line = new TenantLine<Waiting>();
  #all = 0;

  constructor(connections: number, waitMs: number) {
    this.#total = connections;
    this.#ofTenants = Math.max(1, connections - FOR_HOST);
    this.#ofOne = Math.max(1, Math.floor(this.#ofTenants * TENANT_PART));
    this.#waitMs = waitMs;
  }

  /** Resolves with the release. Throws `unavailable` when there was no turn in time. */
  take(tenant: string): Promise<() => void> {
    if (this.#line.size === 0 && this.#mayHaveTurn(tenant)) return Promise.resolve(this.#admit(tenant));
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        this.#line.remove(tenant, waiting);
        reject(new AppError("unavailable", { reason: "The database is busy with other requests" }));
      }, this.#waitMs);
      const waiting = {
        tenant,
        admit: () => {
          clearTimeout(giveUp);
          resolve(this.#admit(tenant));
        },
      };
      this.#line.add(tenant, waiting);
      this.#serve();
    });
  }

  #mayHaveTurn(tenant: string): boolean {
    if (this.#all >= this.#total) return false;
    if (tenant === OF_HOST) return true;
    const ofHost = this.#used.get(OF_HOST) ?? 0;
    return this.#all - ofHost < this.#ofTenants && (this.#used.get(tenant) ?? 0) < this.#ofOne;
  }

  #admit(tenant: string): () => void {
    this.#count(tenant, 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#count(tenant, -1);
      this.#serve();
    };
  }

  #count(tenant: string, change: 1 | -1): void {
    this.#all += change;
    const used = (this.#used.get(tenant) ?? 0) + change;
    if (used > 0) this.#used.set(tenant, used);
    else this.#used.delete(tenant);
  }

  #serve(): void {
    for (;;) {
      const next = this.#line.take((tenant) => this.#mayHaveTurn(tenant));
      if (next === undefined) return;
      next.admit();
    }
  }
}

/** Tenants whose handles are kept. */
const TENANTS_KEPT = 1000;

/** The same pool as each tenant may use it. */
export function tenantPools(pool: Pool, turns: ConnectionTurns) {
  const kept = new Map<string, { readonly queries: Queries; readonly db: Kysely<Tables> }>();
  const of = (tenant: string) => {
    const known = kept.get(tenant);
    if (known !== undefined) return known;
    if (kept.size >= TENANTS_KEPT) kept.clear();
    const own = poolOf(pool, turns, tenant);
    const made = { queries: own, db: kyselyOn(own) };
    kept.set(tenant, made);
    return made;
  };
  const queries: Handles<Queries> = (tenant) => of(tenant).queries;
  const db: Handles<Kysely<Tables>> = (tenant) => of(tenant).db;
  return { queries, db };
}

function poolOf(pool: Pool, turns: ConnectionTurns, tenant: string): Pick<Pool, "query" | "connect" | "end"> {
  const query = async (...args: unknown[]) => {
    const release = await turns.take(tenant);
    try {
      return await (pool.query as (...args: unknown[]) => Promise<unknown>)(...args);
    } finally {
      release();
    }
  };
  const connect = async (): Promise<Pick<PoolClient, "query" | "release">> => {
    const release = await turns.take(tenant);
    try {
      const client = await pool.connect();
      const end = (broken?: Error | boolean) => {
        client.release(broken);
        release();
      };
      return { query: client.query.bind(client) as PoolClient["query"], release: end };
    } catch (error) {
      release();
      throw error;
    }
  };
  return { query: query as Pool["query"], connect: connect as Pool["connect"], end: () => pool.end() };
}
