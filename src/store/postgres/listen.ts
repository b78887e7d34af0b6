import type { Client } from "pg";
import type { Change } from "../port/store.ts";
import { type ConnectionSettings, listenerClient } from "./connection.ts";
import { CHANNEL, changeFrom, EVERYTHING } from "./notification.ts";

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
