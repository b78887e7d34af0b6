import type { Client } from "pg";
import type { Change, Committed, Unit } from "../store.ts";
import { commitBatch } from "./commit-batch.ts";
import { type ConnectionSettings, writerClient } from "./connection.ts";
import { explain } from "./database-trouble.ts";
import { GroupCommit, type Settled } from "./group-commit.ts";
import { notify } from "./notification.ts";
import { type PreparedUnit, prepareUnit } from "./prepare-unit.ts";
import { send } from "./statements.ts";

/**
 * The one connection over which this process commits units. It is opened when it is needed: after the server was away,
 * the first commit that finds it again makes a new one.
 */
export class Writer {
  readonly #settings: ConnectionSettings;
  /** Names this process in its notifications, so that it does not listen to itself. */
  readonly #sender: string;
  readonly #onCommitted: (change: Change) => void;
  readonly #group = new GroupCommit<PreparedUnit, Committed>((batch) => this.#commitTogether(batch));
  #client: Client | undefined;

  constructor(settings: ConnectionSettings, sender: string, onCommitted: (change: Change) => void) {
    this.#settings = settings;
    this.#sender = sender;
    this.#onCommitted = onCommitted;
  }

  async commit(unit: Unit): Promise<Committed> {
    return this.#group.add(prepareUnit(unit));
  }

  async close(): Promise<void> {
    await this.#group.idle();
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #commitTogether(batch: readonly PreparedUnit[]): Promise<Settled<Committed>[]> {
    try {
      this.#client ??= await this.#connect();
      const client = this.#client;
      const { settled, changes } = await commitBatch(client, batch);
      for (const change of changes) this.#tell(client, change);
      return settled;
    } catch (error) {
      // Whatever state the connection is in, a new one is in none.
      this.#drop(this.#client);
      throw explain(error);
    }
  }

  async #connect(): Promise<Client> {
    const client = writerClient(this.#settings);
    client.on("error", () => this.#drop(client));
    await client.connect();
    return client;
  }

  #drop(client: Client | undefined): void {
    if (client !== undefined && this.#client === client) this.#client = undefined;
    void client?.end().catch(() => {});
  }

  /**
   * After the commit and not in it: transactions that notify commit one after the other in all of PostgreSQL, and would
   * hold up the other processes for as long as this one's disk takes. A notification that is lost costs latency only.
   */
  #tell(client: Client, change: Change): void {
    this.#onCommitted(change);
    send(client, [notify(this.#sender, change)]).catch(() => {});
  }
}
