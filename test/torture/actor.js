// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { GaveUp } from "./client.js";
import { ForkDeeds } from "./fork-deeds.js";
import { GateDeeds } from "./gate-deeds.js";
import { JudgmentDeeds } from "./judgment-deeds.js";
import { napMaxMs, User } from "./user.js";
import { WORKFLOWS } from "./workflows.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {import("./journal.js").RunRecord} RunRecord
 * @typedef {import("./workflows.js").WorkflowName} WorkflowName
 */

/** One user among many: does one thing after the other, and sees each to its end, crashes or not. */
export class Actor extends User {
  #gates = new GateDeeds(this);
  #judgments = new JudgmentDeeds(this);
  #forks = new ForkDeeds(this);

  async live() {
    const { over, thinkMs, tenants } = this.world;
    const deeds = /** @type {const} */ ([
      [26, this.#create],
      [10, this.#createTwice],
      [18, this.#createAndFollow],
      [14, this.#createAndPoll],
      [12, this.#cancel],
      [14, this.#pauseAndResume],
      [2, this.#bulkCancel],
      [3, this.#createAlone],
      [1, this.#register],
      [100, this.#decide],
      [60, this.#judge],
      [12, this.#replay],
    ]);
    while (!over.aborted) {
      try {
        await this.random.weighted(deeds).call(this, this.random.pick(tenants));
      } catch (error) {
        if (!(error instanceof GaveUp)) throw error;
      }
      await sleep(this.random.between(0, thinkMs));
    }
  }

  /** @param {Tenant} tenant */
  async #create(tenant) {
    const record = await this.newRun(tenant, this.#anyWorkflow(), { keyed: this.random.chance(0.6) });
    if (record !== undefined && this.random.chance(0.3)) await this.snapshotOf(tenant, record.runId);
  }

  /**
   * The same request again, while the first is under way or after it was answered.
   * @param {Tenant} tenant
   */
  async #createTwice(tenant) {
    const { tag, call } = this.creation(tenant, this.#anyWorkflow(), { keyed: true });
    const attempt = this.attempt(tag);
    const again = () => this.client.ask(call);
    const answers = this.random.chance(0.5)
      ? await Promise.all([again(), again(), again()])
      : [await again(), await again()];
    for (const answer of answers)
      if (this.expect(answer, [201], call)) this.journal.created(attempt, answer.json.runId);
    this.journal.acknowledge("create");
    if (new Set(answers.map((answer) => answer.text)).size > 1) {
      this.journal.violation("a repeated request got another answer", {
        tag,
        answers: answers.map((one) => one.text),
      });
    }
  }

  /** @param {Tenant} tenant */
  async #createAndFollow(tenant) {
    const record = await this.newRun(tenant, this.random.pick(["naps", "delay", "retry", "chain"]), { keyed: true });
    if (record !== undefined) await this.client.follow(tenant, record);
  }

  /** @param {Tenant} tenant */
  async #createAndPoll(tenant) {
    const record = await this.newRun(tenant, this.random.pick(["naps", "delay", "noop", "fail"]), { keyed: true });
    if (record !== undefined) await this.client.pollToEnd(tenant, record);
  }

  /** @param {Tenant} tenant */
  async #cancel(tenant) {
    const record = await this.newRun(tenant, "naps", { keyed: true });
    if (record === undefined) return;
    await sleep(this.random.between(0, napMaxMs));
    record.cancelAsked = true;
    const answer = await this.change(tenant, `/v1/runs/${record.runId}/cancel`, { reason: "torture" }, "cancel", [200]);
    if (answer === undefined) return;
    const { status } = answer.json;
    record.cancelled = status === "cancelled" || status === "cancelling";
  }

  /** @param {Tenant} tenant */
  async #pauseAndResume(tenant) {
    const record = await this.newRun(tenant, "naps", { keyed: true });
    if (record === undefined) return;
    const following = this.random.chance(0.3) ? this.client.follow(tenant, record) : undefined;
    const path = `/v1/runs/${record.runId}`;
    const rounds = this.random.between(1, 2);
    for (let round = 0; round < rounds; round++) {
      await sleep(this.random.between(0, napMaxMs));
      const policy = this.random.chance(0.5)
        ? { drainPolicy: this.random.pick(["immediate", "drain-current-node"]) }
        : {};
      const paused = await this.change(tenant, `${path}:pause`, policy, "pause", [202, 409]);
      if (paused?.status !== 202) break;
      record.pauses += 1;
      await sleep(this.random.between(0, 200));
      // Nobody else touches this run, so a pause that was acknowledged can only have been lost.
      if ((await this.change(tenant, `${path}:resume`, {}, "resume", [202])) === undefined) break;
      record.resumes += 1;
    }
    await following;
  }

  /** @param {Tenant} tenant */
  async #bulkCancel(tenant) {
    /** @type {RunRecord[]} */
    const records = [];
    for (let i = 0; i < 4; i++) {
      const record = await this.newRun(tenant, "naps", { keyed: true });
      if (record !== undefined) records.push(record);
    }
    for (const record of records) record.cancelAsked = true;
    const runIds = records.map((record) => record.runId);
    // Without a key, so that it is asked once; what got no answer may have happened or not.
    const answer = await this.client.askOnce({
      method: "POST",
      path: "/v1/runs:bulk-cancel",
      key: tenant.key,
      body: { runIds },
    });
    if (answer?.status !== 200) return;
    this.journal.acknowledge("bulk cancel");
    for (const [i, result] of answer.json.results.entries()) {
      const record = records[i];
      if (record === undefined || record.runId !== result.runId)
        this.journal.violation("a bulk cancel answered out of order", { runIds, result });
      else if (result.ok) record.cancelled = true;
    }
  }

  /**
   * At most one active run in a scope.
   * @param {Tenant} tenant
   */
  async #createAlone(tenant) {
    const scopeId = `scope-${this.random.between(0, 2)}`;
    const record = await this.newRun(tenant, "naps", { keyed: true, scopeId });
    if (record === undefined) return;
    const scope = `${tenant.tenant}/${scopeId}`;
    const before = this.world.scopes.get(scope);
    this.world.scopes.set(scope, record.runId);
    const other = before === undefined ? undefined : this.journal.runs.get(before);
    if (other === undefined) return;
    // Both existed before the first of these reads; so if both are active at theirs, both were at the first.
    const active = [await this.#isActive(tenant, other), await this.#isActive(tenant, record)];
    if (active.every(Boolean)) {
      this.journal.violation("two active runs in one dedup scope", { scope, runIds: [other.runId, record.runId] });
    }
  }

  /** @param {Tenant} tenant */
  #decide(tenant) {
    return this.#gates.any(tenant);
  }

  /** @param {Tenant} tenant */
  #judge(tenant) {
    return this.#judgments.any(tenant);
  }

  /** @param {Tenant} tenant */
  #replay(tenant) {
    return this.#forks.replay(tenant);
  }

  /** @param {Tenant} tenant */
  async #register(tenant) {
    const noop = /** @type {import("./workflows.js").TortureWorkflow} */ (WORKFLOWS["noop"]).definition;
    const id = `torture-${this.name}`;
    const definition = { ...noop, id, version: this.nextTag() };
    const answer = await this.change(tenant, "/v1/workflows", definition, "register", [201]);
    if (answer !== undefined)
      this.journal.workflows.set(`${tenant.tenant}/${id}`, { tenant: tenant.tenant, definition });
  }

  /** @returns {WorkflowName} */
  #anyWorkflow() {
    return this.random.weighted([
      [4, "noop"],
      [2, "chain"],
      [3, "delay"],
      [2, "naps"],
      [1, "fail"],
      [1, "retry"],
    ]);
  }

  /**
   * @param {Tenant} tenant
   * @param {RunRecord} record
   */
  async #isActive(tenant, record) {
    const run = await this.snapshotOf(tenant, record.runId);
    return ["pending", "running", "paused", "cancelling"].includes(run?.status);
  }
}
