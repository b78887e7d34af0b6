// @ts-check

const ENDED = ["completed", "failed", "cancelled"];

/** Somebody who looks at what has happened once more: replays of runs that have ended. */
export class ForkDeeds {
  #user;

  /** @param {import("./user.js").User} user */
  constructor(user) {
    this.#user = user;
  }

  /** @param {import("./tenants.js").Tenant} tenant */
  async replay(tenant) {
    const { random, journal } = this.#user;
    const runs = [...journal.runs.values()].filter((run) => run.tenant === tenant.tenant).slice(-40);
    if (runs.length === 0) return;
    const { runId } = random.pick(runs);
    const run = await this.#user.snapshotOf(tenant, runId);
    if (!ENDED.includes(run?.status)) return;
    const answer = await this.#user.change(tenant, `/v1/runs/${runId}:fork`, { mode: "replay" }, "replay", [201]);
    if (answer !== undefined) journal.replays.set(answer.json.runId, { sourceRunId: runId, tenant: tenant.tenant });
  }
}
