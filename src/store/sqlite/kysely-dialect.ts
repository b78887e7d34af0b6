import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Handles } from "../read/shared-store.ts";
import type { Tables } from "../schema/tables.ts";
import { OF_HOST } from "../units/group-commit.ts";
import { explain } from "./database-error.ts";
import type { SqliteDatabase, SqliteValue } from "./open-database.ts";
import { type CachedStatement, cacheStatements } from "./statements.ts";

/** Kysely over a handle of this thread. The handle stays the caller's to close. */
export function kyselyOver(db: SqliteDatabase): Kysely<Tables> {
  return kyselyForTenants(db)(OF_HOST);
}

/** Tenants whose Kysely is kept. */
const TENANTS_KEPT = 1000;

/**
 * The same with a line for each tenant. The statements of one wait for each other, and where they take long the tenants take turns: reads of one
 * tenant, however many arrive together, delay those of another by a few statements.
 */
export function kyselyForTenants(db: SqliteDatabase): Handles<Kysely<Tables>> {
  const cached = cacheStatements(db);
  const prepare = (sql: string) => kyselyStatement(explained(() => cached(sql)));
  const turns = new StatementTurns();
  const byTenant = new Map<string, Kysely<Tables>>();
  return (tenant) => {
    const known = byTenant.get(tenant);
    if (known !== undefined) return known;
    if (byTenant.size >= TENANTS_KEPT) byTenant.clear();
    const own = new Kysely<Tables>({ dialect: new HandleDialect({ database: { prepare, close: () => {} } }, turns) });
    byTenant.set(tenant, own);
    return own;
  };
}

/** Runs one statement somewhere else, whole or not at all. */
export type RunStatement = (sql: string, parameters: SqliteValue[]) => Promise<StatementResult>;

export interface StatementResult {
  readonly rows: unknown[];
  readonly changes: number;
}

/** Kysely whose statements are run by the writer. Each is a transaction of its own; there are no larger ones. */
export function kyselyThrough(run: RunStatement): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const { rows, changes } = await run(sql, parameters as SqliteValue[]);
      return { rows: rows as R[], numAffectedRows: BigInt(changes) };
    },
    streamQuery: unsupported,
  };
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createDriver: () => ({
      init: async () => {},
      acquireConnection: async () => connection,
      beginTransaction: unsupported,
      commitTransaction: unsupported,
      rollbackTransaction: unsupported,
      releaseConnection: async () => {},
      destroy: async () => {},
    }),
  };
  return new Kysely({ dialect });
}

function unsupported(): never {
  throw new Error("the writer runs single statements and units, nothing in between");
}

class HandleDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #turns: StatementTurns;

  constructor(config: SqliteDialectConfig, turns: StatementTurns) {
    super(config);
    this.#config = config;
    this.#turns = turns;
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createDriver(): SqliteDriver {
    return new TurnsDriver(this.#config, this.#turns);
  }
}

/** How long statements, and what is done between them, may take in one turn of the event loop. */
const TURN_MS = 20;

/**
 * Statements go on in another turn of the event loop when this one has lasted some time. They run in this process: those of requests that
 * arrive together, each of a few milliseconds, would be a second in which nothing else is done.
 */
class StatementTurns {
  #beganMs: number | undefined;
  /** Each continues in its own turn, in the order of arrival: one for each tenant. */
  readonly #line: (() => void)[] = [];

  /** Resolves when a statement may begin. */
  async begin(): Promise<void> {
    if (this.#beganMs !== undefined && performance.now() - this.#beganMs >= TURN_MS) await this.#ownTurn();
    if (this.#beganMs !== undefined) return;
    this.#beganMs = performance.now();
    setImmediate(() => {
      this.#beganMs = undefined;
    });
  }

  #ownTurn(): Promise<void> {
    return new Promise((resolve) => {
      this.#line.push(resolve);
      if (this.#line.length === 1) setImmediate(() => this.#serve());
    });
  }

  #serve(): void {
    this.#line.shift()?.();
    if (this.#line.length > 0) setImmediate(() => this.#serve());
  }
}

/** The driver of one tenant, which has one connection: its statements wait here in line. */
class TurnsDriver extends SqliteDriver {
  readonly #turns: StatementTurns;

  constructor(config: SqliteDialectConfig, turns: StatementTurns) {
    super(config);
    this.#turns = turns;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    await this.#turns.begin();
    return connection;
  }
}

/** SQLite has transactional DDL, though Kysely does not use it: a migration that fails half-way must leave nothing. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): true {
    return true;
  }
}

interface KyselyStatement {
  readonly reader: boolean;
  all(parameters: readonly unknown[]): unknown[];
  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(parameters: readonly unknown[]): IterableIterator<unknown>;
}

/** Kysely passes parameters as one array and wants to know beforehand whether rows come back. */
function kyselyStatement({ statement, returnsRows }: CachedStatement): KyselyStatement {
  return {
    reader: returnsRows,
    all: (parameters) => explained(() => statement.all(...(parameters as SqliteValue[]))),
    run: (parameters) =>
      explained(() => ({ changes: statement.run(...(parameters as SqliteValue[])).changes, lastInsertRowid: 0 })),
    iterate: unsupported,
  };
}

function explained<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw explain(error);
  }
}
