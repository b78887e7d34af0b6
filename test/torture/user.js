// @ts-check
import { Client } from "./client.js";
import { WORKFLOWS } from "./workflows.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {import("./journal.js").RunRecord} RunRecord
 * @typedef {import("./workflows.js").WorkflowName} WorkflowName
 *
 * @typedef {object} World
 * @property {import("./fleet.js").Fleet} fleet
 * @property {import("./journal.js").Journal} journal
 * @property {readonly Tenant[]} tenants
 * @property {number} thinkMs how long an actor rests at most between two deeds
 * @property {AbortSignal} over when to begin nothing new
 * @property {number} [patienceMs] how long something may take before it counts as lost
 * @property {Map<string, string>} scopes the last run acknowledged in each dedup scope
 *
 * @typedef {{ keyed: boolean, scopeId?: string, inputs?: object }} Creation
 */

export const napMaxMs = 300;

/** Makes requests under names of its own, and notes what was acknowledged. */
export class User {
  /** @type {string} */
  name;
  /** @type {World} */
  world;
  /** @type {import("./random.js").Random} */
  random;
  /** @type {Client} */
  client;
  #made = 0;

  /**
   * @param {string} name
   * @param {World} world
   * @param {import("./random.js").Random} random
   */
  constructor(name, world, random) {
    this.name = name;
    this.world = world;
    this.random = random;
    this.client = new Client(world, random);
  }

  get journal() {
    return this.world.journal;
  }

  nextTag() {
    this.#made += 1;
    return `${this.name}-${this.#made}`;
  }

  /**
   * @param {Tenant} tenant
   * @param {WorkflowName} workflow
   * @param {Creation} options
   */
  creation(tenant, workflow, { keyed, scopeId, inputs: given = {} }) {
    const tag = this.nextTag();
    this.journal.attempts.set(tag, { tag, tenant: tenant.tenant, workflow, keyed });
    const { definition } = /** @type {import("./workflows.js").TortureWorkflow} */ (WORKFLOWS[workflow]);
    const inputs = { n: this.random.between(1, 1000), napMs: this.random.between(1, napMaxMs), ...given };
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
  attempt(tag) {
    return /** @type {import("./journal.js").Attempt} */ (this.journal.attempts.get(tag));
  }

  /**
   * The acknowledged run; undefined when there is none, or nobody knows.
   * @param {Tenant} tenant
   * @param {WorkflowName} workflow
   * @param {Creation} options
   * @returns {Promise<RunRecord | undefined>}
   */
  async newRun(tenant, workflow, options) {
    const { keyed, scopeId } = options;
    const { tag, call } = this.creation(tenant, workflow, options);
    const answer = keyed ? await this.client.ask(call) : await this.client.askOnce(call);
    if (answer === undefined || answer.status === 503) return undefined;
    if (!this.expect(answer, scopeId === undefined ? [201] : [201, 409], call) || answer.status === 409)
      return undefined;
    this.journal.acknowledge("create");
    return this.journal.created(this.attempt(tag), answer.json.runId);
  }

  /**
   * A change under an idempotency key, sent until it is answered.
   * @param {{ key: string }} who
   * @param {string} path
   * @param {object} body
   * @param {string} kind
   * @param {readonly number[]} statuses
   */
  async change({ key }, path, body, kind, statuses) {
    /** @type {import("./http-client.js").Call} */
    const call = { method: "POST", path, key, body, headers: { "idempotency-key": this.nextTag() } };
    const answer = await this.client.ask(call);
    if (!this.expect(answer, statuses, call)) return undefined;
    if (answer.status < 300) this.journal.acknowledge(kind);
    return answer;
  }

  /**
   * What was written is there when one reads, on whatever server.
   * @param {{ key: string }} who
   * @param {string} runId
   * @returns {Promise<any>} the snapshot; undefined when it was refused, which is noted
   */
  async snapshotOf({ key }, runId) {
    /** @type {import("./http-client.js").Call} */
    const call = { method: "GET", path: `/v1/runs/${runId}`, key };
    const answer = await this.client.ask(call);
    return this.expect(answer, [200], call) ? answer.json : undefined;
  }

  /**
   * @param {import("./http-client.js").Answer} answer
   * @param {readonly number[]} statuses
   * @param {import("./http-client.js").Call} call
   */
  expect({ status, text }, statuses, { method, path, body }) {
    if (statuses.includes(status)) return true;
    this.journal.violation("an unexpected answer", { method, path, body, status, text: text.slice(0, 500) });
    return false;
  }
}
