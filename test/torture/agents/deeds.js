// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { GaveUp } from "../client.js";
import { User } from "../user.js";
import { COST_USD, DEPLOYED, PROGRAM, SUITE, WORKFLOWS } from "./setting.js";

/**
 * @typedef {import("../tenants.js").Tenant} Tenant
 *
 * @typedef {object} Begun an acknowledged run
 * @property {"evaluation" | "agents" | "led"} kind
 * @property {Tenant} tenant
 * @property {string} runId
 * @property {string} tag
 * @property {string[]} seen event ids by sequence
 * @property {number} trials
 * @property {number} concurrency
 * @property {number} [budgetUsd]
 * @property {boolean} cancelAsked
 *
 * @typedef {{ tenant: Tenant, version: string, state: string }} Deployed an acknowledged transition
 *
 * @typedef {import("../user.js").World & { runs: Map<string, Begun>, deployed: Deployed[] }} World
 */

/** Evaluates, works with agents and supervisors, and deploys, crashes or not. */
export class AgentUser extends User {
  /** @type {World} */
  #world;

  /**
   * @param {string} name
   * @param {World} world
   * @param {import("../random.js").Random} random
   */
  constructor(name, world, random) {
    super(name, world, random);
    this.#world = world;
  }

  async live() {
    const { over, tenants, thinkMs } = this.#world;
    const deeds = /** @type {const} */ ([
      [30, this.#evaluate],
      [8, this.#evaluateAndCancel],
      [20, this.#askAgents],
      [16, this.#supervise],
      [30, this.#deploy],
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
  async #evaluate(tenant) {
    const begun = await this.#begin(tenant, "evaluation", this.random.chance(0.2) ? { budgetUsd: 4 * COST_USD } : {});
    if (begun !== undefined) await this.#toItsEnd(tenant, begun);
  }

  /** @param {Tenant} tenant */
  async #evaluateAndCancel(tenant) {
    const begun = await this.#begin(tenant, "evaluation", {});
    if (begun === undefined) return;
    await sleep(this.random.between(0, 400));
    begun.cancelAsked = true;
    await this.change(tenant, `/v1/runs/${begun.runId}/cancel`, { reason: "torture" }, "cancel", [200]);
    await this.#toItsEnd(tenant, begun);
  }

  /** @param {Tenant} tenant */
  async #askAgents(tenant) {
    const begun = await this.#begin(tenant, "agents", {});
    if (begun !== undefined) await this.#toItsEnd(tenant, begun);
  }

  /** @param {Tenant} tenant */
  async #supervise(tenant) {
    const begun = await this.#begin(tenant, "led", {});
    if (begun !== undefined) await this.#toItsEnd(tenant, begun);
  }

  /**
   * What it does depends on how things stand; others may be quicker.
   * @param {Tenant} tenant
   */
  async #deploy(tenant) {
    const path = `/v1/agents/${DEPLOYED}/deployments`;
    const there = await this.client.ask({ method: "GET", path, key: tenant.key });
    const { version, state } = this.random.pick(/** @type {{ version: string, state: string }[]} */ (there.json));
    const steps = /** @type {Record<string, object>} */ ({
      draft: { transition: "promote", toState: "test" },
      test: { transition: "promote", toState: "staged" },
      staged: { transition: "promote", toState: "active" },
      active: { transition: "pause" },
      paused: { transition: "promote", toState: "active" },
    });
    const answer = await this.change(tenant, path, { version, ...steps[state] }, "deploy", [200, 400, 409]);
    if (answer?.status === 200) this.#world.deployed.push({ tenant, version, state: answer.json.state });
  }

  /**
   * @param {Tenant} tenant
   * @param {Begun["kind"]} kind
   * @param {{ budgetUsd?: number }} limits
   * @returns {Promise<Begun | undefined>}
   */
  async #begin(tenant, kind, limits) {
    const tag = this.nextTag();
    const [trials, concurrency] = [this.random.between(1, 2), this.random.between(1, 4)];
    const configurable = { trials, concurrency, ...limits };
    const what =
      kind === "evaluation"
        ? { mode: "eval", evalSuiteRef: SUITE, agentId: PROGRAM, configurable }
        : { workflowId: WORKFLOWS[kind]?.id };
    /** @type {import("../http-client.js").Call} */
    const call = {
      method: "POST",
      path: "/v1/runs",
      key: tenant.key,
      headers: { "idempotency-key": tag },
      body: { ...what, tags: [tag] },
    };
    const answer = await this.client.ask(call);
    if (!this.expect(answer, [201], call)) return undefined;
    this.journal.acknowledge(kind);
    const { runId } = answer.json;
    /** @type {Begun} */
    const begun = { kind, tenant, runId, tag, seen: [], trials, concurrency, ...limits, cancelAsked: false };
    if (this.#world.runs.has(runId)) this.journal.violation("two requests gave one run", { runId, tag });
    this.#world.runs.set(runId, begun);
    return begun;
  }

  /**
   * @param {Tenant} tenant
   * @param {Begun} begun
   */
  async #toItsEnd(tenant, begun) {
    const record = /** @type {import("../journal.js").RunRecord} */ (/** @type {unknown} */ (begun));
    await (this.random.chance(0.5) ? this.client.follow(tenant, record) : this.client.pollToEnd(tenant, record));
  }
}
