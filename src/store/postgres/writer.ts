import type { Client } from "pg";
import type { Change, Committed, Unit } from "../port/store.ts";
import { GroupCommit, type Settled } from "../units/group-commit.ts";
import { isLongUnit, type PreparedUnit, prepareUnit, writeEvents } from "../units/prepare-unit.ts";
import { commitBatch, type WriterConnection } from "./commit-batch.ts";
import { type ConnectionSettings, writerClient } from "./connection.ts";
import { explain } from "./database-error.ts";
import { EVERYTHING } from "./listen.ts";
import { itemsOf } from "./lock-rows.ts";
import { RunCounting } from "./run-counts.ts";

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

export interface SizedUnit extends PreparedUnit {
  /** Roughly, in characters or bytes, of all that can be large. */
  readonly size: number;
}

/** A unit with deletions or preconditions is a batch of its own: all rows it depends on are then in the database, none in memory. */
export function sizeOf(prepared: PreparedUnit): number {
  return standsAlone(prepared.unit) ? Number.POSITIVE_INFINITY : sum(sizes(prepared));
}

function standsAlone({ deletions = [], preconditions = [], reviews = [], documents = [] }: Unit): boolean {
  return (
    deletions.length + preconditions.length > 0 || [...reviews, ...documents].some(({ type }) => type === "delete")
  );
}

function* sizes({ unit, runs, annotations }: PreparedUnit): Iterable<number> {
  yield unit.idempotency?.response.body.length ?? 0;
  for (const { row, events, interrupts } of runs) {
    yield row.state.length;
    for (const { body } of interrupts.interrupts) yield body.length;
    for (const { body, sealed } of events) yield body.length + (sealed?.length ?? 0);
  }
  for (const { body } of unit.artifacts ?? []) yield body.length;
  for (const { after } of annotations) {
    const { note = "", tapeRow = "", signal } = after;
    yield note.length + tapeRow.length + (signal.correction?.length ?? 0);
  }
  for (const { definition } of unit.workflows ?? []) yield definition.length;
  for (const write of unit.externalEvents ?? []) if (write.type === "put") yield write.event.payload.length;
  for (const { body } of (unit.queues ?? []).flatMap(itemsOf)) yield body.length;
  for (const write of unit.tapes ?? []) {
    yield write.type === "sidecar" ? write.sidecar.text.length : write.tape.header.length;
  }
  for (const write of unit.reviews ?? []) {
    if (write.type === "round") yield write.session.memory.length + sum(write.rounds.map(({ body }) => body.length));
  }
  for (const write of unit.documents ?? []) if ("document" in write) yield write.document.body.length;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
