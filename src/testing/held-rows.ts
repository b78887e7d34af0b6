import { Client } from "pg";
import { eventually } from "./eventually.ts";

/** Rows of a PostgreSQL that a test keeps locked, so that other transactions stop between two of their steps. */
export class HeldRows {
  readonly #holder: Client;
  readonly #watcher: Client;

  private constructor(holder: Client, watcher: Client) {
    this.#holder = holder;
    this.#watcher = watcher;
  }

  static async connect(url: string): Promise<HeldRows> {
    const clients = [new Client(url), new Client(url)] as const;
    for (const client of clients) await client.connect();
    return new HeldRows(...clients);
  }

  /** Begins a transaction with this statement, which locks rows until `release`. */
  async hold(statement: string, values: readonly unknown[]): Promise<void> {
    await this.#holder.query("begin");
    const { rowCount } = await this.#holder.query(statement, [...values]);
    if (!rowCount) throw new Error("there is no such row to hold");
  }

  async release(): Promise<void> {
    await this.#holder.query("commit");
  }

  /** Resolves when so many connections of the database wait for a lock. */
  async untilWaiting(count: number): Promise<void> {
    await eventually(async () => {
      const waiting = (await this.#waiting()).length;
      if (waiting !== count) throw new Error(`${waiting} connections wait for a lock, not ${count}`);
    });
  }

  /** Ends the connection that has waited longest, as if its process had been killed. */
  async endFirstWaiting(): Promise<void> {
    const [pid] = await this.#waiting();
    await this.#watcher.query("select pg_terminate_backend($1)", [pid]);
  }

  async end(): Promise<void> {
    await Promise.all([this.#holder.end(), this.#watcher.end()]);
  }

  async #waiting(): Promise<number[]> {
    const { rows } = await this.#watcher.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       order by query_start`,
    );
    return rows.map(({ pid }) => pid);
  }
}
