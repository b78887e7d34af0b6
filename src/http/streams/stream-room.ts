import { AppError } from "../../protocol/errors.ts";

/** Limits of event streams and long polls. Every value is a setting of the host. */
export interface StreamSettings {
  /** Bytes that may wait in memory for a connection; after that it is fed from the store. */
  readonly bufferedBytesMax: number;
  /** How long a client may take none of the bytes that wait for it before its connection is cut. It can resume by Last-Event-ID. */
  readonly stallMs: number;
  /** How often a followed run is read without a notification: the delay that a lost notification causes at most. */
  readonly rereadMs: number;
  /** The same for a live inbox, for which all open interrupts of the tenant are read. */
  readonly inboxRereadMs: number;
  /** The protocol asks for a sign of life at least every 30 s. */
  readonly keepAliveMs: number;
  readonly streamsMax: number;
}

export const STREAM_DEFAULTS: StreamSettings = {
  bufferedBytesMax: 1024 * 1024,
  stallMs: 60_000,
  rereadMs: 5_000,
  inboxRereadMs: 30_000,
  keepAliveMs: 15_000,
  streamsMax: 4096,
};

/** Counters over all streams of this process. */
export interface StreamTally {
  frames: number;
  lagging: number;
}

/** The part of all streams that one tenant may hold open, so that others have room. */
const TENANT_SHARE = 3 / 4;

/** How many streams this process has open, of all kinds together, and whether there is room for one more. */
export class StreamRoom {
  readonly tally: StreamTally = { frames: 0, lagging: 0 };
  readonly #settings: Pick<StreamSettings, "streamsMax">;
  readonly #openByTenant = new Map<string, number>();
  #open = 0;
  #closed = false;

  constructor(settings: Pick<StreamSettings, "streamsMax">) {
    this.#settings = settings;
  }

  get open(): number {
    return this.#open;
  }

  /** Throws before anything is sent when there is no room or the host is shutting down. */
  check(tenant: string): void {
    if (this.#closed) throw new AppError("unavailable", { reason: "This host is shutting down" });
    const { streamsMax } = this.#settings;
    const ofTenantMax = Math.ceil(streamsMax * TENANT_SHARE);
    if (this.#open >= streamsMax) throw tooMany("global", streamsMax);
    if ((this.#openByTenant.get(tenant) ?? 0) >= ofTenantMax) throw tooMany("tenant", ofTenantMax);
  }

  /** Counts a stream; returns what ends that. */
  take(tenant: string): () => void {
    this.#count(tenant, 1);
    return () => this.#count(tenant, -1);
  }

  /** Refuses all streams from now on. */
  close(): void {
    this.#closed = true;
  }

  #count(tenant: string, change: 1 | -1): void {
    this.#open += change;
    const ofTenant = (this.#openByTenant.get(tenant) ?? 0) + change;
    if (ofTenant > 0) this.#openByTenant.set(tenant, ofTenant);
    else this.#openByTenant.delete(tenant);
  }
}

const RETRY_AFTER_MS = 1000;

function tooMany(scope: "global" | "tenant", limit: number): AppError {
  return new AppError("rate_limited", { retryAfterMs: RETRY_AFTER_MS, scope, limit });
}
