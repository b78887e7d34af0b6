import type { CountChanges } from "../port/creation-limits.ts";
import type { FlatUnit } from "./operations.ts";
import type { Statements } from "./statements.ts";

/** Beyond this many tenants the counts are forgotten and read again as needed. */
const TENANTS_MAX = 10_000;

/**
 * The counts of runs that have not ended, by tenant. Only this connection changes them, so they are read once and then kept
 * in memory; each batch writes one row per tenant whose count it changed.
 */
export class RunCounts {
  readonly #statements: Statements;
  /** As committed. */
  readonly #active = new Map<string, number>();
  /** Changes of the batch under way. */
  #added = new Map<string, number>();

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Counts an accepted unit. */
  apply({ checks: { tenant }, cancelledFamilies }: FlatUnit, { active, descendants }: CountChanges): void {
    if (active !== 0) this.#added.set(tenant, (this.#added.get(tenant) ?? 0) + active);
    for (const [rootRunId, added] of descendants) this.#statements.addDescendants.run(rootRunId, tenant, added);
    for (const { rootRunId, atMs } of cancelledFamilies) this.#statements.cancelFamily.run(rootRunId, tenant, atMs);
  }

  /** The last writes before the commit. */
  write(): void {
    for (const [tenant, added] of this.#added) if (added !== 0) this.#statements.addActiveRuns.run(tenant, added);
  }

  committed(): void {
    if (this.#active.size > TENANTS_MAX) this.#active.clear();
    for (const [tenant, added] of this.#added) {
      const before = this.#active.get(tenant);
      if (before !== undefined) this.#active.set(tenant, before + added);
    }
    this.#added = new Map();
  }

  undone(): void {
    this.#active.clear();
    this.#added = new Map();
  }

  activeRuns(tenant: string): number {
    let active = this.#active.get(tenant);
    if (active === undefined) {
      active = Number((this.#statements.activeRuns.get(tenant) as { active: number | null }).active ?? 0);
      this.#active.set(tenant, active);
    }
    return active + (this.#added.get(tenant) ?? 0);
  }
}
