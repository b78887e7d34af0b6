// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { Client, GaveUp } from "./client.js";
import { WORKFLOWS } from "./workflows.js";

/**
 * @typedef {import("./client.js").Tenant} Tenant
 * @typedef {import("./journal.js").RunRecord} RunRecord
 * @typedef {import("./workflows.js").WorkflowName} WorkflowName
 *
 * @typedef {object} World
 * @property {import("./fleet.js").Fleet} fleet
 * @property {import("./journal.js").Journal} journal
 * @property {readonly Tenant[]} tenants
 * @property {number} thinkMs how long an actor rests at most between two deeds
 * @property {AbortSignal} over when to begin nothing new
 * @property {Map<string, string>} scopes the last run acknowledged in each dedup scope
 */

const napMaxMs = 300;

/** One user among many: does one thing after the other, and sees each to its end, crashes or not. */
export class Actor {
  #name;
  #world;
  #random;
  #client;
  #made = 0;

  /**
   * @param {string} name
   * @param {World} world
   * @param {import("./random.js").Random} random
   */
  constructor(name, world, random) {
    this.#name = name;
    this.#world = world;
    this.#random = random;
    this.#client = new Client(world, random);
  }

  async live() {
    const { over, thinkMs, tenants } = this.#world;
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
    ]);
    while (!over.aborted) {
      try {
        await this.#random.weighted(deeds).call(this, this.#random.pick(tenants));
      } catch (error) {
        if (!(error instanceof GaveUp)) throw error;
      }
      await sleep(this.#random.between(0, thinkMs));
    }
  }

  /** @param {Tenant} tenant */
  async #create(tenant) {
    const record = await this.#newRun(tenant, this.#anyWorkflow(), { keyed: this.#random.chance(0.6) });
    if (record !== undefined && this.#random.chance(0.3)) await this.#statusOf(tenant, record);
  }

  /**
   * The same request again, while the first is under way or after it was answered.
   * @param {Tenant} tenant
   */
  async #createTwice(tenant) {
    const { tag, call } = this.#creation(tenant, this.#anyWorkflow(), true);
    const attempt = this.#attempt(tag);
    const again = () => this.#client.ask(call);
    const answers = this.#random.chance(0.5)
      ? await Promise.all([again(), again(), again()])
      : [await again(), await again()];
    for (const answer of answers)
      if (this.#expect(answer, [201], call)) this.#journal.created(attempt, answer.json.runId);
    this.#journal.acknowledge("create");
    if (new Set(answers.map((answer) => answer.text)).size > 1) {
      this.#journal.violation("a repeated request got another answer", {
        tag,
        answers: answers.map((one) => one.text),
      });
    }
  }

  /** @param {Tenant} tenant */
  async #createAndFollow(tenant) {
    const record = await this.#newRun(tenant, this.#random.pick(["naps", "delay", "retry", "chain"]), { keyed: true });
    if (record !== undefined) await this.#client.follow(tenant, record);
  }

  /** @param {Tenant} tenant */
  async #createAndPoll(tenant) {
    const record = await this.#newRun(tenant, this.#random.pick(["naps", "delay", "noop", "fail"]), { keyed: true });
    if (record !== undefined) await this.#client.pollToEnd(tenant, record);
  }

  /** @param {Tenant} tenant */
  async #cancel(tenant) {
    const record = await this.#newRun(tenant, "naps", { keyed: true });
    if (record === undefined) return;
    await sleep(this.#random.between(0, napMaxMs));
    record.cancelAsked = true;
    const answer = await this.#change(
      tenant,
      `/v1/runs/${record.runId}/cancel`,
      { reason: "torture" },
      "cancel",
      [200],
    );
    if (answer === undefined) return;
    const { status } = answer.json;
    record.cancelled = status === "cancelled" || status === "cancelling";
  }

  /** @param {Tenant} tenant */
  async #pauseAndResume(tenant) {
    const record = await this.#newRun(tenant, "naps", { keyed: true });
    if (record === undefined) return;
    const following = this.#random.chance(0.3) ? this.#client.follow(tenant, record) : undefined;
    const path = `/v1/runs/${record.runId}`;
    const rounds = this.#random.between(1, 2);
    for (let round = 0; round < rounds; round++) {
      await sleep(this.#random.between(0, napMaxMs));
      const policy = this.#random.chance(0.5)
        ? { drainPolicy: this.#random.pick(["immediate", "drain-current-node"]) }
        : {};
      const paused = await this.#change(tenant, `${path}:pause`, policy, "pause", [202, 409]);
      if (paused?.status !== 202) break;
      record.pauses += 1;
      await sleep(this.#random.between(0, 200));
      // Nobody else touches this run, so a pause that was acknowledged can only have been lost.
      if ((await this.#change(tenant, `${path}:resume`, {}, "resume", [202])) === undefined) break;
      record.resumes += 1;
    }
    await following;
  }

  /** @param {Tenant} tenant */
  async #bulkCancel(tenant) {
    /** @type {RunRecord[]} */
    const records = [];
    for (let i = 0; i < 4; i++) {
      const record = await this.#newRun(tenant, "naps", { keyed: true });
      if (record !== undefined) records.push(record);
    }
    for (const record of records) record.cancelAsked = true;
    const runIds = records.map((record) => record.runId);
    // Without a key, so that it is asked once; what got no answer may have happened or not.
    const answer = await this.#client.askOnce({
      method: "POST",
      path: "/v1/runs:bulk-cancel",
      key: tenant.key,
      body: { runIds },
    });
    if (answer?.status !== 200) return;
    this.#journal.acknowledge("bulk cancel");
    for (const [i, result] of answer.json.results.entries()) {
      const record = records[i];
      if (record === undefined || record.runId !== result.runId)
        this.#journal.violation("a bulk cancel answered out of order", { runIds, result });
      else if (result.ok) record.cancelled = true;
    }
  }

  /**
   * At most one active run in a scope.
   * @param {Tenant} tenant
   */
  async #createAlone(tenant) {
    const scopeId = `scope-${this.#random.between(0, 2)}`;
    const record = await this.#newRun(tenant, "naps", { keyed: true, scopeId });
    if (record === undefined) return;
    const scope = `${tenant.tenant}/${scopeId}`;
    const before = this.#world.scopes.get(scope);
    this.#world.scopes.set(scope, record.runId);
    const other = before === undefined ? undefined : this.#journal.runs.get(before);
    if (other === undefined) return;
    // Both existed before the first of these reads; so if both are active at theirs, both were at the first.
    const active = [await this.#isActive(tenant, other), await this.#isActive(tenant, record)];
    if (active.every(Boolean)) {
      this.#journal.violation("two active runs in one dedup scope", { scope, runIds: [other.runId, record.runId] });
    }
  }

  /** @param {Tenant} tenant */
  async #register(tenant) {
    const noop = /** @type {import("./workflows.js").TortureWorkflow} */ (WORKFLOWS["noop"]).definition;
    const id = `torture-${this.#name}`;
    const definition = { ...noop, id, version: this.#nextTag() };
    const answer = await this.#change(tenant, "/v1/workflows", definition, "register", [201]);
    if (answer !== undefined)
      this.#journal.workflows.set(`${tenant.tenant}/${id}`, { tenant: tenant.tenant, definition });
  }

  get #journal() {
    return this.#world.journal;
  }

  #nextTag() {
    this.#made += 1;
    return `${this.#name}-${this.#made}`;
  }

  /** @returns {WorkflowName} */
  #anyWorkflow() {
    return this.#random.weighted([
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
   * @param {WorkflowName} workflow
   * @param {boolean} keyed
   * @param {string} [scopeId]
   */
  #creation(tenant, workflow, keyed, scopeId) {
    const tag = this.#nextTag();
    this.#journal.attempts.set(tag, { tag, tenant: tenant.tenant, workflow, keyed });
    const { definition } = /** @type {import("./workflows.js").TortureWorkflow} */ (WORKFLOWS[workflow]);
    const inputs = { n: this.#random.between(1, 1000), napMs: this.#random.between(1, napMaxMs) };
    /** @type {import("./http-client.js").Call} */
    const call = {
      method: "POST",
      path: "/v1/runs",
      key: tenant.key,
      headers: {
        ...(keyed ? { "idempotency-key": tag } : {}),
        ...(scopeId === undefined ? {} : { "x-dedup": "enforce" }),
      },
      body: { workflowId: definition["id"], inputs, tags: [tag], ...(scopeId === undefined ? {} : { scopeId }) },
    };
    return { tag, call };
  }

  /** @param {string} tag */
  #attempt(tag) {
    return /** @type {import("./journal.js").Attempt} */ (this.#journal.attempts.get(tag));
  }

  /**
   * The acknowledged run; undefined when there is none, or nobody knows.
   * @param {Tenant} tenant
   * @param {WorkflowName} workflow
   * @param {{ keyed: boolean, scopeId?: string }} options
   * @returns {Promise<RunRecord | undefined>}
   */
  async #newRun(tenant, workflow, { keyed, scopeId }) {
    const { tag, call } = this.#creation(tenant, workflow, keyed, scopeId);
    const answer = keyed ? await this.#client.ask(call) : await this.#client.askOnce(call);
    if (answer === undefined || answer.status === 503) return undefined;
    if (!this.#expect(answer, scopeId === undefined ? [201] : [201, 409], call) || answer.status === 409)
      return undefined;
    this.#journal.acknowledge("create");
    return this.#journal.created(this.#attempt(tag), answer.json.runId);
  }

  /**
   * A change under an idempotency key, sent until it is answered.
   * @param {Tenant} tenant
   * @param {string} path
   * @param {object} body
   * @param {string} kind
   * @param {readonly number[]} statuses
   */
  async #change(tenant, path, body, kind, statuses) {
    /** @type {import("./http-client.js").Call} */
    const call = { method: "POST", path, key: tenant.key, body, headers: { "idempotency-key": this.#nextTag() } };
    const answer = await this.#client.ask(call);
    if (!this.#expect(answer, statuses, call)) return undefined;
    if (answer.status < 300) this.#journal.acknowledge(kind);
    return answer;
  }

  /**
   * What was written is there when one reads, on whatever server.
   * @param {Tenant} tenant
   * @param {RunRecord} record
   */
  async #statusOf(tenant, record) {
    /** @type {import("./http-client.js").Call} */
    const call = { method: "GET", path: `/v1/runs/${record.runId}`, key: tenant.key };
    const answer = await this.#client.ask(call);
    return this.#expect(answer, [200], call) ? String(answer.json.status) : "unknown";
  }

  /**
   * @param {Tenant} tenant
   * @param {RunRecord} record
   */
  async #isActive(tenant, record) {
    return ["pending", "running", "paused", "cancelling"].includes(await this.#statusOf(tenant, record));
  }

  /**
   * @param {import("./http-client.js").Answer} answer
   * @param {readonly number[]} statuses
   * @param {import("./http-client.js").Call} call
   */
  #expect({ status, text }, statuses, { method, path, body }) {
    if (statuses.includes(status)) return true;
    this.#journal.violation("an unexpected answer", { method, path, body, status, text: text.slice(0, 500) });
    return false;
  }
}
