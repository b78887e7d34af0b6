// @ts-check

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {import("./user.js").User} User
 *
 * @typedef {object} Judgment as it was acknowledged last
 * @property {string} annotationId
 * @property {string} tenant
 * @property {string} runId
 * @property {string} key of its author
 * @property {any} signal
 * @property {string} note
 * @property {"live" | "superseded" | "retracted"} state
 * @property {"open" | "closed" | undefined} flag
 * @property {boolean} busy somebody is changing it, or nobody knows what became of that
 */

/** What reviewers do: judge runs, change their minds, take judgments back, close flags. */
export class JudgmentDeeds {
  #user;

  /** @param {User} user */
  constructor(user) {
    this.#user = user;
  }

  /** @param {Tenant} tenant */
  async any(tenant) {
    const { random, journal } = this.#user;
    const mine = [...journal.judgments.values()].filter((one) => one.tenant === tenant.tenant && !one.busy);
    const before = mine.length === 0 ? undefined : random.pick(mine.slice(-50));
    if (before === undefined || before.state !== "live" || random.chance(0.6)) return this.#judge(tenant);
    // Two who change one judgment at once would not know what to expect of it.
    before.busy = true;
    const changes = [() => this.#replace(tenant, before), () => this.#retract(before)];
    if (before.flag === "open") changes.push(() => this.#close(before));
    await random.pick(changes)();
    before.busy = false;
  }

  /** @param {Tenant} tenant */
  async #judge(tenant) {
    const { random, journal } = this.#user;
    const runs = [...journal.runs.values()].filter((run) => run.tenant === tenant.tenant).slice(-40);
    if (runs.length === 0) return;
    const { runId } = random.pick(runs);
    const { key } = random.pick([...tenant.approvers, tenant.outsider]);
    const said = this.#words();
    const answer = await this.#user.change({ key }, `/v1/runs/${runId}/annotations`, said, "judge", [201]);
    if (answer !== undefined) this.#recorded(answer.json, said, { tenant: tenant.tenant, runId, key });
  }

  /**
   * @param {Tenant} tenant
   * @param {Judgment} before
   */
  async #replace(tenant, before) {
    const { key, runId } = before;
    const said = this.#words();
    const body = { ...said, supersedes: before.annotationId };
    const path = `/v1/host/assay/runs/${runId}/annotations`;
    const answer = await this.#user.change({ key }, path, body, "judge anew", [201]);
    if (answer === undefined) return;
    before.state = "superseded";
    this.#recorded(answer.json, said, { tenant: tenant.tenant, runId, key });
  }

  /** @param {Judgment} before */
  async #retract(before) {
    const path = `/v1/host/assay/annotations/${before.annotationId}:retract`;
    const answer = await this.#user.change(before, path, { reason: "torture" }, "retract", [200]);
    if (answer !== undefined) before.state = "retracted";
  }

  /** @param {Judgment} before */
  async #close(before) {
    const path = `/v1/host/assay/annotations/${before.annotationId}:close`;
    const answer = await this.#user.change(before, path, { note: "looked into" }, "close", [200]);
    if (answer !== undefined) before.flag = "closed";
  }

  #words() {
    const { random } = this.#user;
    const note = `said ${this.#user.nextTag()}`;
    const signal = random.pick([
      { kind: "rating", rating: random.between(1, 5) },
      { kind: "label", label: random.pick(["pass", "fail", "off-brand"]) },
      { kind: "correction", correction: `better ${note}` },
      { kind: "flag" },
    ]);
    return { signal, note };
  }

  /**
   * @param {{ annotationId: string }} answered
   * @param {{ signal: any, note: string }} said
   * @param {{ tenant: string, runId: string, key: string }} about
   */
  #recorded({ annotationId }, { signal, note }, about) {
    const { judgments } = this.#user.journal;
    const flag = signal.kind === "flag" ? "open" : undefined;
    judgments.set(annotationId, { annotationId, ...about, signal, note, state: "live", flag, busy: false });
  }
}
