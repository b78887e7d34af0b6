import type { Run } from "../../protocol/runs/run.ts";
import type { Claim, Store } from "../../store/port/store.ts";

/**
 * Claims that take from tenants in turn. While everything due fits into one claim, runs are taken longest due first. Once a
 * claim was filled, each tenant that has due runs gets the same share of the next ones, so that a tenant with a hundred
 * thousand due runs delays another one's by a claim and not by all of them.
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

  /** As many as the claim has places, from the one after the last that was served, once around. */
  async #nextTenants({ nowMs, engineVersion, limit }: Claim, excluded: ReadonlySet<string>): Promise<string[]> {
    const query = { nowMs, engineVersion, limit: limit + excluded.size };
    const after = await this.#store.dueTenants({ ...query, after: this.#after });
    const around =
      after.length < query.limit && this.#after !== "" ? await this.#store.dueTenants({ ...query, after: "" }) : [];
    const tenants = [...after, ...around.filter((tenant) => tenant <= this.#after)];
    return tenants.filter((tenant) => !excluded.has(tenant)).slice(0, limit);
  }
}
