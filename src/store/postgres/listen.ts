import type { Client } from "pg";
import { matches, type Static, Type } from "../../protocol/schema.ts";
import type { Change } from "../port/store.ts";
import { type ConnectionSettings, listenerClient } from "./connection.ts";
import { prepared, type Statement } from "./statements.ts";

const BACK_OFF_MIN_MS = 100;
const BACK_OFF_MAX_MS = 5_000;

/** Interval of liveness probes on an idle connection: a network may fail without closing it. */
const HEARTBEAT_MS = 15_000;

/**
 * Listens for the commits of other processes on its own connection and reconnects when that is lost. Notifications
 * sent meanwhile are lost, so the listener is then asked to read everything again.
 */
export class Listener {
  readonly #settings: ConnectionSettings;
  readonly #self: string;
  readonly #onChange: (change: Change) => void;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: ConnectionSettings, self: string, onChange: (change: Change) => void) {
    this.#settings = settings;
    this.#self = self;
    this.#onChange = onChange;
  }

  /** Resolves when nothing that is committed from now on can be missed. */
  async open(): Promise<void> {
    await this.#connect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    await client?.end();
  }

  async #connect(): Promise<void> {
    const client = listenerClient(this.#settings);
    // A lost connection is one of the two events, or both; the first counts.
    const lost = (): void => {
      if (this.#client !== client) return;
      this.#client = undefined;
      void client.end().catch(() => {});
      this.#reconnectAfter(BACK_OFF_MIN_MS);
    };
    client.on("error", lost);
    client.on("end", lost);
    client.on("notification", ({ channel, payload = "" }) => {
      const change = channel === CHANNEL ? changeFrom(payload, this.#self) : undefined;
      if (change !== undefined) this.#onChange(change);
    });
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    if (this.#closed) return void (await client.end());
    this.#client = client;
    this.#beat(client, lost);
  }

  #beat(client: Client, lost: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      client.query("select 1").then(
        () => this.#client === client && this.#beat(client, lost),
        () => lost(),
      );
    }, HEARTBEAT_MS).unref();
  }

  #reconnectAfter(backOffMs: number): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#connect().then(
        () => this.#onChange(EVERYTHING),
        () => this.#reconnectAfter(Math.min(backOffMs * 2, BACK_OFF_MAX_MS)),
      );
    }, backOffMs).unref();
  }
}

/** Listeners of this process, notified of every change. */
export class Listeners {
  readonly #listeners = new Set<(change: Change) => void>();

  /** Returns a function that removes the listener. */
  add(listener: (change: Change) => void): () => void {
    // A function of its own, so that a listener that is added twice is removed one by one.
    const own = (change: Change): void => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  notify(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        // A bug of the listener. The commit it was notified of is acknowledged all the same.
        setImmediate(() => {
          throw error;
        });
      }
    }
  }
}

/** The channel on which all processes of this database publish their commits. */
export const CHANNEL = "assay_changed";

/** For a listener that may have missed something. */
export const EVERYTHING: Change = {
  runIds: "all",
  work: true,
  keys: true,
  webhooks: true,
  deliveries: true,
  annotations: true,
  queues: true,
};

/** PostgreSQL refuses payloads of 8000 bytes and more. */
const PAYLOAD_MAX_BYTES = 7_900;

const Notification = Type.Object({
  sender: Type.String(),
  work: Type.Boolean(),
  keys: Type.Boolean(),
  webhooks: Type.Boolean(),
  deliveries: Type.Boolean(),
  annotations: Type.Boolean(),
  queues: Type.Boolean(),
  runIds: Type.Union([Type.Literal("all"), Type.Array(Type.String())]),
});
type Notification = Static<typeof Notification>;

const NOTIFY = prepared("notify", `select pg_notify('${CHANNEL}', $1)`);

/** Notifications carry ids only: listeners read the rows. */
export function notify(sender: string, { runIds, ...topics }: Change): Statement {
  const notification: Notification = { sender, ...topics, runIds: runIds === "all" ? "all" : [...runIds] };
  let payload = JSON.stringify(notification);
  if (Buffer.byteLength(payload) > PAYLOAD_MAX_BYTES) payload = JSON.stringify({ ...notification, runIds: "all" });
  return { ...NOTIFY, values: [payload] };
}

/** Undefined for this process's own notifications and for foreign ones. */
export function changeFrom(payload: string, self: string): Change | undefined {
  const notification = parsed(payload);
  if (!matches(Notification, notification) || notification.sender === self) return undefined;
  const { sender: _, ...change } = notification;
  return change;
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}
