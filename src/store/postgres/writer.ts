import type { Client } from "pg";
import type { Change, Committed, Unit } from "../port/store.ts";
import { isLongUnit, writeEvents } from "../units/event-texts.ts";
import { GroupCommit, type Settled } from "../units/group-commit.ts";
import { prepareUnit } from "../units/prepare-unit.ts";
import { commitBatch, type WriterConnection } from "./commit-batch.ts";
import { type ConnectionSettings, writerClient } from "./connection.ts";
import { explain } from "./database-error.ts";
import { EVERYTHING } from "./notification.ts";
import { RunCounting } from "./run-counts.ts";
import { type SizedUnit, sizeOf } from "./unit-size.ts";

/**
 * The one connection over which this process commits units. It is opened when it is needed: after the server was away,
 * the first commit that finds it again makes a new one.
 */
export class Writer {
  readonly #settings: ConnectionSettings;
  /** Names this process in its notifications, so that it does not listen to itself. */
  readonly #sender: string;
  readonly #counting: RunCounting;
  readonly #onCommitted: (change: Change) => void;
  readonly #group = new GroupCommit<SizedUnit, Committed>(
    (batch) => this.#commitTogether(batch),
    (unit) => unit.size,
    { tenantOf: ({ unit }) => unit.tenant },
  );
  readonly #connection: WriterConnection = {
    open: () => this.#connected(),
    drop: (client) => this.#drop(client),
  };
  #client: Client | undefined;

  constructor(settings: ConnectionSettings, sender: string, onCommitted: (change: Change) => void) {
    this.#settings = settings;
    this.#sender = sender;
    this.#counting = new RunCounting(sender);
    this.#onCommitted = onCommitted;
  }

  async commit(unit: Unit): Promise<Committed> {
    const texts = isLongUnit(unit) ? await writeEvents(unit) : undefined;
    const prepared = prepareUnit(unit, texts);
    return this.#group.add({ ...prepared, size: sizeOf(prepared) });
  }

  async close(): Promise<void> {
    await this.#group.idle();
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #commitTogether(batch: readonly SizedUnit[]): Promise<Settled<Committed>[]> {
    try {
      const { settled, changes } = await commitBatch(this.#connection, batch, this.#sender, this.#counting);
      for (const change of changes) this.#onCommitted(change);
      return settled;
    } catch (error) {
      // Whatever state the connection is in, a new one is in none. The commit may have happened, so all listeners read again.
      if (this.#client !== undefined) this.#drop(this.#client);
      this.#onCommitted(EVERYTHING);
      throw explain(error);
    }
  }

  async #connected(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const client = writerClient(this.#settings);
    client.on("error", () => this.#drop(client));
    try {
      await client.connect();
    } catch (error) {
      this.#drop(client);
      throw explain(error);
    }
    this.#client = client;
    return client;
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined;
    void client.end().catch(() => {});
  }
}
