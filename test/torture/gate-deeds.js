// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { isEnd } from "./client.js";
import { GateRequests } from "./gate-requests.js";
import { deadlineMs } from "./gate-workflows.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {import("./tenants.js").Voter} Voter
 * @typedef {import("./journal.js").RunRecord} RunRecord
 */

const patienceMs = 60_000;

/** What a user does at gates: several principals at once, changes of mind, cancellations in between. */
export class GateDeeds {
  #user;
  #requests;

  /** @param {import("./user.js").User} user */
  constructor(user) {
    this.#user = user;
    this.#requests = new GateRequests(user);
  }

  /** @param {Tenant} tenant */
  any(tenant) {
    const deeds = /** @type {const} */ ([
      [3, this.#plain],
      [4, this.#quorum],
      [4, this.#governed],
      [2, this.#deadline],
      [3, this.#event],
      [3, this.#family],
      [2, this.#clearInbox],
    ]);
    return this.#random.weighted(deeds).call(this, tenant);
  }

  get #random() {
    return this.#user.random;
  }

  /** @param {Tenant} tenant */
  async #plain(tenant) {
    const raised = await this.#raise(tenant, "plain");
    if (raised === undefined) return;
    const { record, token } = raised;
    const answers = Array.from({ length: this.#random.between(1, 3) }, () =>
      this.#requests.vote(record, this.#anyApprover(tenant), this.#anyAction()),
    );
    if (token !== undefined && this.#random.chance(0.3)) answers.push(this.#requests.byToken(record, token));
    if (this.#random.chance(0.2)) answers.push(this.#requests.cancel(tenant, record));
    await Promise.all(answers);
    await this.#untilEnded(tenant, record, () => this.#requests.vote(record, this.#anyApprover(tenant), "accept"));
  }

  /** @param {Tenant} tenant */
  async #quorum(tenant) {
    const raised = await this.#raise(tenant, "quorum");
    if (raised === undefined) return;
    const { record } = raised;
    const votes = tenant.approvers.map((who) => this.#requests.vote(record, who, this.#anyAction()));
    votes.push(this.#requests.vote(record, tenant.outsider, "accept", [403]));
    // Somebody who is of two minds, or in a hurry: still one voter.
    votes.push(this.#requests.vote(record, this.#anyApprover(tenant), this.#anyAction()));
    if (this.#random.chance(0.15)) votes.push(this.#requests.cancel(tenant, record));
    await Promise.all(votes);
    await this.#untilEnded(tenant, record, () => this.#requests.vote(record, this.#anyApprover(tenant), "accept"));
  }

  /** @param {Tenant} tenant */
  async #governed(tenant) {
    const raised = await this.#raise(tenant, "governed");
    if (raised === undefined) return;
    const { record } = raised;
    const some = tenant.approvers.slice(0, this.#random.between(1, 4));
    const votes = some.map((who) => this.#requests.vote(record, who, this.#random.chance(0.9) ? "accept" : "reject"));
    votes.push(this.#requests.vote(record, tenant.outsider, "accept", [403]));
    votes.push(this.#requests.vote(record, /** @type {Voter} */ (some[0]), "accept"));
    if (this.#random.chance(0.15)) votes.push(this.#requests.cancel(tenant, record));
    await Promise.all(votes);
    await this.#untilEnded(tenant, record, () => this.#requests.vote(record, this.#anyApprover(tenant), "accept"));
  }

  /**
   * Voters against the clock.
   * @param {Tenant} tenant
   */
  async #deadline(tenant) {
    const raised = await this.#raise(tenant, "deadline");
    if (raised === undefined) return;
    const { record } = raised;
    const voters = Array.from({ length: this.#random.between(0, 2) }, async () => {
      await sleep(this.#random.between(0, 1.5 * deadlineMs));
      await this.#requests.vote(record, this.#anyApprover(tenant), "accept");
    });
    await Promise.all(voters);
    await this.#untilEnded(tenant, record, async () => {});
  }

  /**
   * An event before or after the run that waits for it, sent more than once.
   * @param {Tenant} tenant
   */
  async #event(tenant) {
    const order = this.#user.nextTag();
    const eventIds = [`${order}-a`, ...(this.#random.chance(0.3) ? [`${order}-b`] : [])];
    const early = this.#random.chance(0.5);
    const send = async (/** @type {string} */ eventId) => this.#requests.send(tenant, order, eventId, early);
    const repeats = Array.from({ length: this.#random.between(0, 2) }, () => `${order}-a`);
    const sendAll = async () => (await Promise.all([...eventIds, ...repeats].map(send))).flat();
    const acknowledged = early ? await sendAll() : [];
    const raised = await this.#raise(tenant, "event", { correlation: { order } });
    if (raised === undefined) return;
    const { record } = raised;
    if (!early) acknowledged.push(...(await sendAll()));
    record.events.push(...acknowledged);
    await this.#untilEnded(tenant, record, async () => {
      // A held event finds its run by itself.
      if (!early) record.events.push(...(await send(`${order}-c`)));
    });
  }

  /** @param {Tenant} tenant */
  async #family(tenant) {
    const raised = await this.#raise(tenant, "parent");
    if (raised === undefined || raised.child === undefined) return;
    const { record, child } = raised;
    const deeds = /** @type {const} */ ([
      [4, () => [this.#requests.vote(child, this.#anyApprover(tenant), this.#anyAction())]],
      [2, () => [this.#cancelFamily(tenant, record, child)]],
      [1, () => [this.#requests.cancel(tenant, child)]],
      [
        3,
        () => [
          this.#cancelFamily(tenant, record, child),
          this.#requests.vote(child, this.#anyApprover(tenant), this.#anyAction()),
        ],
      ],
    ]);
    await Promise.all(this.#random.weighted(deeds)());
    await this.#untilEnded(tenant, record, () => this.#requests.vote(child, this.#anyApprover(tenant), "accept"));
  }

  /**
   * One of the approvers accepts whatever waits for them, gates of other users among it.
   * @param {Tenant} tenant
   */
  #clearInbox(tenant) {
    return this.#requests.clearInbox(this.#anyApprover(tenant));
  }

  /**
   * A run that has come to wait; undefined when nobody knows of one, or it is over already.
   * @param {Tenant} tenant
   * @param {string} workflow
   * @param {object} [inputs]
   * @returns {Promise<{ record: RunRecord, token?: string, child?: RunRecord } | undefined>}
   */
  async #raise(tenant, workflow, inputs = {}) {
    const record = await this.#user.newRun(tenant, workflow, { keyed: true, inputs });
    if (record === undefined) return undefined;
    for (const endMs = Date.now() + patienceMs; Date.now() < endMs; ) {
      const run = await this.#user.snapshotOf(tenant, record.runId);
      if (run === undefined) return undefined;
      if (run.status.startsWith("waiting-") || isEnd(`run.${run.status}`)) {
        const [first] = run.childRuns ?? [];
        const child = first === undefined ? {} : { child: this.#user.journal.adopted(record, first.runId) };
        return { record, token: run.interrupt?.interruptToken, ...child };
      }
      await sleep(this.#random.between(2, 20));
    }
    this.#user.journal.violation("a gate was not raised", { runId: record.runId });
    return undefined;
  }

  /**
   * Whoever began it sees to it that it ends.
   * @param {Tenant} tenant
   * @param {RunRecord} record
   * @param {() => Promise<unknown>} push what brings it closer to its end
   */
  async #untilEnded(tenant, record, push) {
    for (const endMs = Date.now() + patienceMs; Date.now() < endMs; ) {
      const run = await this.#user.snapshotOf(tenant, record.runId);
      if (run === undefined || isEnd(`run.${run.status}`)) return;
      if (run.status.startsWith("waiting-")) await push();
      await sleep(this.#random.between(5, 40));
    }
    const run = await this.#user.snapshotOf(tenant, record.runId);
    this.#user.journal.violation("a gate did not come to its end", { run });
  }

  /**
   * @param {Tenant} tenant
   * @param {RunRecord} record
   * @param {RunRecord} child
   */
  #cancelFamily(tenant, record, child) {
    child.cascadeAsked = true;
    return this.#requests.cancel(tenant, record);
  }

  /** @param {Tenant} tenant */
  #anyApprover({ approvers }) {
    return this.#random.pick(approvers);
  }

  /** @returns {"accept" | "reject"} */
  #anyAction() {
    return this.#random.chance(0.8) ? "accept" : "reject";
  }
}
