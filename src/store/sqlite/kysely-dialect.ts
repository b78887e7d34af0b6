import { setImmediate as nextTurn } from "node:timers/promises";
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
import type { Tables } from "../schema/tables.ts";
import { explain } from "./database-error.ts";
import type { SqliteDatabase, SqliteValue } from "./open-database.ts";
import { type CachedStatement, cacheStatements } from "./statement-cache.ts";

/** Kysely over a handle of this thread. The handle stays the caller's to close. */
export function kyselyOver(db: SqliteDatabase): Kysely<Tables> {
  const cached = cacheStatements(db);
  const prepare = (sql: string) => kyselyStatement(explained(() => cached(sql)));
  return new Kysely({ dialect: new HandleDialect({ database: { prepare, close: () => {} } }) });
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

  constructor(config: SqliteDialectConfig) {
    super(config);
    this.#config = config;
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createDriver(): SqliteDriver {
    return new TurnsDriver(this.#config);
  }
}

/** How long statements, and what is done between them, may take in one turn of the event loop. */
const TURN_MS = 20;

/**
 * A driver whose statements go on in another turn of the event loop when this one has lasted some time. They run in this process: those
 * of requests that arrive together, each of a few milliseconds, would be a second in which nothing else is done.
 */
class TurnsDriver extends SqliteDriver {
  #turnBeganMs: number | undefined;

  /** The driver has one connection, so statements wait here in line. */
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    if (this.#turnBeganMs !== undefined && performance.now() - this.#turnBeganMs >= TURN_MS) await nextTurn();
    if (this.#turnBeganMs === undefined) {
      this.#turnBeganMs = performance.now();
      setImmediate(() => {
        this.#turnBeganMs = undefined;
      });
    }
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
