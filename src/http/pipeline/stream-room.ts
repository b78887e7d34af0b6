import { AppError } from "../../protocol/errors.ts";
import type { StreamSettings } from "../streams/stream-settings.ts";

/** What this process counts over all its streams. */
export interface StreamTally {
  frames: number;
  lagging: number;
}

/** The part of all streams that one tenant may hold open, so that others find room. */
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

  /** Throws before anything is sent when there is no room or the host is going down. */
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

  /** There is no room from now on. */
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
