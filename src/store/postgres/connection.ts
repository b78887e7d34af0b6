import { Kysely, PostgresDialect, type PostgresPool } from "kysely";
import { Client, type ClientConfig, DatabaseError, Pool, types } from "pg";
import type { Tables } from "../schema/tables.ts";

export interface ConnectionSettings {
  readonly url: string;
  /** A statement that takes longer is cancelled, and its caller gets `unavailable`. 0 is no limit. */
  readonly statementTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

type Connections = Pick<Pool, "connect" | "end">;

/** The server cancels first. Only when its answer does not arrive either is the connection given up. */
const ANSWER_GRACE_MS = 5_000;

const INT8 = 20;

/** Counts and milliseconds stay far below 2^53, so 64-bit integers are numbers here. */
const numbersForBigints: ClientConfig["types"] = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === INT8 && format !== "binary" ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser,
};

/**
 * `on` and not what the server prefers: an acknowledged write survives power loss. On a server with synchronous
 * replicas it means that they have it on disk too.
 */
const DURABLE = ["synchronous_commit=on"];

/**
 * Prepared statements keep their plan. One made while the tables were empty would read all rows of a table for ever
 * after, at least until the next ANALYZE; every statement of the writer finds its rows by an index.
 */
const BY_INDEX = ["enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off"];

/** A connection of its own for the writer, which sends a whole transaction without waiting in between. */
export function writerClient(settings: ConnectionSettings): Client {
  return new Client({ ...configOf(settings, [...DURABLE, ...BY_INDEX]), pipeline: true });
}

export function listenerClient(settings: ConnectionSettings): Client {
  return new Client(configOf(settings, []));
}

export function openPool(settings: ConnectionSettings, max: number): Pool {
  const pool = new Pool({ ...configOf(settings, DURABLE), max, idleTimeoutMillis: 60_000 });
  // A connection that dies while idle has no caller to report to. The next caller opens another.
  pool.on("error", () => {});
  // The pool listens to idle connections only. What a dying server says to one that is lent out, or that was opened
  // this moment, would be an uncaught error, and end the process. The pool keeps no connection that had one.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function kyselyOn(pool: Connections): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: discarding(pool) }) });
}

/**
 * Kysely gives every connection back as if it were sound. One whose statement got no answer still waits for it, so it
 * is closed instead; a statement that the server refused leaves its connection fit for use.
 */
function discarding(pool: Connections): PostgresPool {
  return {
    end: () => pool.end(),
    connect: async () => {
      const client = await pool.connect();
      let broken: Error | undefined;
      const watched = async (...args: unknown[]) => {
        try {
          return await (client.query as (...args: unknown[]) => Promise<unknown>)(...args);
        } catch (error) {
          if (!(error instanceof DatabaseError)) broken = error as Error;
          throw error;
        }
      };
      return { query: watched, release: () => client.release(broken) } as Awaited<ReturnType<PostgresPool["connect"]>>;
    },
  };
}

function configOf(settings: ConnectionSettings, options: readonly string[]): ClientConfig {
  const { statementTimeoutMs } = settings;
  return {
    connectionString: withOptions(settings.url, options),
    application_name: "assay",
    statement_timeout: statementTimeoutMs,
    // A process that was stopped in the middle of a transaction loses its locks before those who wait for them give up.
    idle_in_transaction_session_timeout: statementTimeoutMs / 2,
    query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + ANSWER_GRACE_MS,
    connectionTimeoutMillis: settings.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: numbersForBigints,
  };
}

/** Adds to the `options` of the URL, which would otherwise replace ours. */
function withOptions(text: string, options: readonly string[]): string {
  if (options.length === 0) return text;
  const url = new URL(text);
  const given = url.searchParams.get("options");
  const flags = options.map((option) => `-c ${option}`);
  url.searchParams.set("options", [...(given === null ? [] : [given]), ...flags].join(" "));
  return url.href;
}
