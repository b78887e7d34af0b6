// @ts-check
import { isTryAgain } from "./client.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {import("./tenants.js").Voter} Voter
 * @typedef {import("./journal.js").RunRecord} RunRecord
 */

const eventsPath = "/v1/host/assay/external-events";
const inboxPath = "/v1/host/assay/inbox";

/** What a refusal may say to somebody who came too late, or has voted otherwise before. */
const tooLate = ["interrupt_already_resolved", "interrupt_cancelled", "interrupt_gone", "vote_conflict"];

/** Answers to gates and what ends them otherwise, with what was acknowledged noted on the run. */
export class GateRequests {
  #user;

  /** @param {import("./user.js").User} user */
  constructor(user) {
    this.#user = user;
  }

  /**
   * @param {RunRecord} record
   * @param {Voter} who
   * @param {"accept" | "reject"} action
   * @param {readonly number[]} [hoped] the answer while the gate is open
   */
  async vote(record, who, action, hoped = [200]) {
    const path = `/v1/runs/${record.runId}/interrupts/gate`;
    const body = { resumeValue: { action } };
    const answer = await this.#user.change(who, path, body, "vote", [...hoped, 409, 410, 422]);
    if (answer?.status === 200) record.answers.push({ voter: who.principal, action, ...answer.json });
    else if (answer !== undefined && answer.status !== 403) this.#expectLate(path, answer);
  }

  /** @param {Voter} who */
  async clearInbox(who) {
    /** @type {import("./http-client.js").Call} */
    const call = { method: "GET", path: `${inboxPath}?kind=approval&mine=false&limit=20`, key: who.key };
    const listed = await this.#user.client.ask(call);
    if (!this.#user.expect(listed, [200], call) || listed.json.items.length === 0) return;
    const items = listed.json.items.map(
      (/** @type {Record<string, unknown>} */ { interruptId, revision, artifactDigest }) => ({
        interruptId,
        revision,
        artifactDigest,
        resumeValue: { action: "accept" },
      }),
    );
    // Without a key, so that it is asked once; what got no answer may have happened or not.
    const path = `${inboxPath}:decide`;
    const answer = await this.#user.client.askOnce({ method: "POST", path, key: who.key, body: { items } });
    if (answer === undefined || isTryAgain(answer)) return;
    if (!this.#user.expect(answer, [200], { ...call, method: "POST", path })) return;
    this.#user.journal.acknowledge("inbox decision");
    const { results } = answer.json;
    for (const [i, result] of results.entries()) {
      if (result.interruptId !== items[i].interruptId) {
        this.#user.journal.violation("an inbox decision answered out of order", { items, results });
      }
      if (result.ok) this.#note(result, who);
      // One of several may find the database gone.
      else if (result.error.error !== "unavailable") this.#expectLate(path, refusalOf(result));
    }
  }

  /**
   * Another user's child may not have been heard of yet; its log is checked all the same.
   * @param {any} result
   * @param {Voter} who
   */
  #note(result, { principal: voter }) {
    this.#user.journal.runs.get(result.runId)?.answers.push({ ...result, voter, action: "accept" });
  }

  /**
   * Without a key to repeat it under: what got no answer may have happened or not.
   * @param {RunRecord} record
   * @param {string} token
   */
  async byToken(record, token) {
    const path = `/v1/interrupts/${token}`;
    const body = { resumeValue: { action: "accept" } };
    const answer = await this.#user.client.askOnce({ method: "POST", path, key: "none", body });
    if (answer === undefined || isTryAgain(answer)) return;
    if (answer.status !== 200) return this.#expectLate("/v1/interrupts/{token}", answer);
    this.#user.journal.acknowledge("vote by token");
    record.answers.push({ voter: "token", action: "accept", ...answer.json });
  }

  /**
   * @param {string} path
   * @param {Pick<import("./http-client.js").Answer, "status" | "json" | "text">} answer
   */
  #expectLate(path, { status, json, text }) {
    if (tooLate.includes(json?.error)) return;
    this.#user.journal.violation("an unexpected refusal", { path, status, text: text.slice(0, 500) });
  }

  /**
   * @param {Tenant} tenant
   * @param {string} order
   * @param {string} eventId
   * @param {boolean} early
   * @returns {Promise<import("./journal.js").TakenEvent[]>} the event, if it was taken
   */
  async send(tenant, order, eventId, early) {
    const payload = { order, eventId };
    const correlation = { order };
    const hold = early ? { holdSeconds: 3600 } : {};
    const body = { eventType: "torture.event", eventId, correlation, payload, ...hold };
    const answer = await this.#user.change(tenant, eventsPath, body, "event", [200, 202, 404, 409]);
    if (answer === undefined || answer.status >= 400) return [];
    this.#user.journal.answered(`${tenant.tenant}/${eventId}`, answer.text);
    return [{ eventId, held: answer.status === 202 }];
  }

  /**
   * @param {Tenant} tenant
   * @param {RunRecord} record
   */
  async cancel(tenant, record) {
    record.cancelAsked = true;
    const path = `/v1/runs/${record.runId}/cancel`;
    const answer = await this.#user.change(tenant, path, { reason: "torture" }, "cancel", [200]);
    if (answer !== undefined) record.cancelled = ["cancelled", "cancelling"].includes(answer.json.status);
  }
}

/** @param {{ error: unknown }} result of one among several */
function refusalOf(result) {
  return { status: 200, json: result.error, text: JSON.stringify(result) };
}
