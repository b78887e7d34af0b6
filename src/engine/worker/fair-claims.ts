import { setTimeout as sleep } from "node:timers/promises";
import type { Run } from "../../protocol/runs/run.ts";
import type { Claim, Store } from "../../store/port/store.ts";

/**
 * Claims that take from tenants in turn. While all due runs fit into one claim, the longest due come first. Once a claim was filled, each
 * tenant with due runs gets the same share of the next claims, so a tenant with a hundred thousand due runs delays another tenant's runs by
 * one claim.
 */
export class FairClaims {
  readonly #store: Pick<Store, "claimRuns" | "dueTenants">;
  #crowded = false;
  /** The tenant that was served last. */
  #after = "";

  constructor(store: Pick<Store, "claimRuns" | "dueTenants">) {
    this.#store = store;
  }

  /** Whether the last claim was filled, so that more may be due. */
  get isCrowded(): boolean {
    return this.#crowded;
  }

  /** @param excluded tenants that hold as much of the worker as one tenant may */
  async claim(claim: Claim, excluded: ReadonlySet<string>): Promise<Run[]> {
    if (!this.#crowded && excluded.size === 0) {
      const runs = await this.#store.claimRuns(claim);
      this.#crowded = runs.length >= claim.limit;
      return runs;
    }
    const runs = await this.#inTurn(claim, excluded);
    const left = claim.limit - runs.length;
    if (left === 0 || excluded.size > 0) return runs;
    const rest = await this.#store.claimRuns({ ...claim, limit: left });
    this.#crowded = rest.length >= left;
    return [...runs, ...rest];
  }

  async #inTurn(claim: Claim, excluded: ReadonlySet<string>): Promise<Run[]> {
    const tenants = await this.#nextTenants(claim, excluded);
    this.#after = tenants.at(-1) ?? "";
    if (tenants.length === 0) return [];
    const share = Math.max(1, Math.floor(claim.limit / tenants.length));
    return this.#store.claimRuns({ ...claim, among: { tenants, share } });
  }

  /** As many tenants as the claim has places, in a circle after the tenant that was served last. */
  async #nextTenants({ nowMs, engineVersion, limit }: Claim, excluded: ReadonlySet<string>): Promise<string[]> {
    const query = { nowMs, engineVersion, limit: limit + excluded.size };
    const after = await this.#store.dueTenants({ ...query, after: this.#after });
    const around =
      after.length < query.limit && this.#after !== "" ? await this.#store.dueTenants({ ...query, after: "" }) : [];
    const tenants = [...after, ...around.filter((tenant) => tenant <= this.#after)];
    return tenants.filter((tenant) => !excluded.has(tenant)).slice(0, limit);
  }
}

/** How long a request counts after its arrival. */
const RECENT_MS = 250;
/** The rest after a step, as a multiple of the time that the step took. */
const REST = 4;
const REST_MAX_MS = 100;

interface Request {
  readonly tenant: string;
  readonly atMs: number;
}

/**
 * The pace of a backlog in a process that answers requests. A step of the backlog delays the requests that arrive during it. While other
 * tenants send requests, the worker rests after each step, so that the backlog takes about a fifth of the time. Without such requests there
 * is no rest.
 */
export class Pace {
  readonly #nowMs: () => number;
  /** The last request, and the last one of another tenant than that. */
  #last: Request | undefined;
  #other: Request | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  noteRequest(tenant: string): void {
    if (this.#last !== undefined && this.#last.tenant !== tenant) this.#other = this.#last;
    this.#last = { tenant, atMs: this.#nowMs() };
  }

  /** The rest after a step that took `tookMs` and executed runs of `tenants`. */
  restMs(tenants: ReadonlySet<string>, tookMs: number): number {
    const [only] = tenants.size === 1 ? tenants : [];
    const others = [this.#last, this.#other].filter((request) => request !== undefined && request.tenant !== only);
    const sinceMs = this.#nowMs() - RECENT_MS;
    if (!others.some((request) => request !== undefined && request.atMs > sinceMs)) return 0;
    return Math.min(REST_MAX_MS, REST * tookMs);
  }

  async rest(tenants: ReadonlySet<string>, tookMs: number): Promise<void> {
    const restMs = this.restMs(tenants, tookMs);
    if (restMs >= 1) await sleep(restMs);
  }
}
