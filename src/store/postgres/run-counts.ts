import type { PreparedUnit } from "../units/prepare-unit.ts";

/** So many rows hold the count of a tenant: hosts rarely wait for each other at one, and their sum is read quickly. */
const SHARDS = 64;

/** Closer to its limit than this, creations of a tenant take turns; further away no batch of any host can pass the limit. */
const NEAR = 10_000;

/** A count is read again after so long: all hosts together create fewer runs of a tenant meanwhile than `NEAR`. */
const KEPT_MS = 200;

interface SeenCount {
  readonly active: number;
  readonly atMs: number;
}

/** The counts of runs that a process keeps between batches. */
export class RunCounting {
  readonly shard: number;
  /** By tenant, as last read. */
  readonly #seen = new Map<string, SeenCount>();

  readonly #nowMs: () => number;

  /** @param sender a UUID */
  constructor(sender: string, nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
    this.shard = Number.parseInt(sender.slice(0, 8), 16) % SHARDS;
  }

  isNear(tenant: string, limit: number): boolean {
    return (this.lastSeen(tenant) ?? Number.POSITIVE_INFINITY) + NEAR > limit;
  }

  /** Whether the count is to be read: near the limit always, elsewhere from time to time. */
  isDue(tenant: string, limit: number): boolean {
    const seen = this.#seen.get(tenant);
    return seen === undefined || this.isNear(tenant, limit) || this.#nowMs() - seen.atMs > KEPT_MS;
  }

  /** The tenants of a batch that creates runs within limits: those whose creations take turns, and those whose count is read. */
  tenantsOf(batch: readonly PreparedUnit[]): { readonly near: readonly string[]; readonly due: readonly string[] } {
    const limits = new Map<string, number>();
    for (const { tenant, runs, creationLimits } of batch.map(({ checks }) => checks)) {
      if (creationLimits === undefined || !runs.some(({ expectedVersion }) => expectedVersion === 0)) continue;
      limits.set(tenant, Math.min(creationLimits.activeRuns, limits.get(tenant) ?? creationLimits.activeRuns));
    }
    const those = (wanted: (tenant: string, limit: number) => boolean) =>
      [...limits].filter(([tenant, limit]) => wanted(tenant, limit)).map(([tenant]) => tenant);
    return {
      near: those((tenant, limit) => this.isNear(tenant, limit)),
      due: those((tenant, limit) => this.isDue(tenant, limit)),
    };
  }

  lastSeen(tenant: string): number | undefined {
    return this.#seen.get(tenant)?.active;
  }

  remember(counts: ReadonlyMap<string, number>): void {
    if (this.#seen.size > 10_000) this.#seen.clear();
    const atMs = this.#nowMs();
    for (const [tenant, active] of counts) this.#seen.set(tenant, { active, atMs });
  }
}
