// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { NoAnswer, send, stream } from "./http-client.js";

/**
 * @typedef {import("./http-client.js").Call} Call
 * @typedef {import("./http-client.js").Answer} Answer
 * @typedef {import("./journal.js").RunRecord} RunRecord
 * @typedef {import("./tenants.js").Tenant} Tenant
 */

/** Nobody answered for too long, which the journal has as a violation. */
export class GaveUp extends Error {}

/** Somebody who uses the servers, repeats what was not answered, and notes in the journal what was. */
export class Client {
  /**
   * @param {{ fleet: import("./fleet.js").Fleet, journal: import("./journal.js").Journal, patienceMs?: number }} world
   * @param {import("./random.js").Random} random
   */
  constructor({ fleet, journal, patienceMs = 60_000 }, random) {
    this.fleet = fleet;
    this.journal = journal;
    this.random = random;
    /** After this long without an answer, a request that is repeated all the time counts as lost. */
    this.patienceMs = patienceMs;
  }

  /**
   * Sends until there is an answer that is not "try again". Only for reads and for requests under an idempotency key.
   * @param {Call} call
   * @returns {Promise<Answer>}
   */
  async ask(call) {
    const deadline = Date.now() + this.patienceMs;
    let last = "";
    while (Date.now() < deadline) {
      const answer = await this.askOnce(call);
      if (answer !== undefined && !isTryAgain(answer)) return answer;
      last = answer === undefined ? "no connection" : `${answer.status} ${answer.text.slice(0, 200)}`;
      await sleep(this.random.between(5, 50));
    }
    this.journal.violation("no answer for too long", { method: call.method, path: call.path, last });
    throw new GaveUp();
  }

  /**
   * Undefined when there was no answer: then nobody knows whether it happened.
   * @param {Call} call
   * @returns {Promise<Answer | undefined>}
   */
  async askOnce(call) {
    const url = await this.fleet.anyUrl(this.random);
    try {
      const answer = await send(url, call);
      this.#examine(call, answer);
      return answer;
    } catch (error) {
      this.#unanswered(call, url, error);
      return undefined;
    }
  }

  /**
   * Follows a run to its end by server-sent events, across crashes and some hang-ups of its own.
   * @param {Tenant} tenant
   * @param {RunRecord} record
   */
  async follow({ key }, record) {
    const deadline = Date.now() + this.patienceMs;
    const path = `/v1/runs/${record.runId}/events?streamMode=debug`;
    let next = 0;
    let ended = false;
    for (let connection = 0; !ended; connection++) {
      if (Date.now() > deadline) return this.#stuck("a stream", record, next);
      if (connection > 0) this.journal.counts.reconnects += 1;
      let framesLeft = this.random.chance(0.3) ? this.random.between(1, 4) : Number.POSITIVE_INFINITY;
      const headers = next === 0 ? {} : { "last-event-id": String(next - 1) };
      const url = await this.fleet.anyUrl(this.random);
      try {
        /** @type {Call} */
        const call = { method: "GET", path, key, headers };
        const how = await stream(url, call, ({ id, event: name, data }) => {
          const event = JSON.parse(data);
          if (name === "run.annotated") return this.#noticed(record, id, event);
          // What somebody says is shown as such, at the place of its event.
          if (name === "ai.message.chunk") {
            if (id !== String(next))
              this.journal.violation("a chunk that was skipped or repeated", { id, next, event });
            next = Number(id) + 1;
            return false;
          }
          if (id !== String(event.sequence)) this.journal.violation("a frame's id is not its sequence", { id, event });
          this.journal.saw(record, event, next, "stream");
          next = event.sequence + 1;
          ended ||= isEnd(event.type);
          framesLeft -= 1;
          return framesLeft <= 0 && !ended;
        });
        if (typeof how === "object") this.#examine(call, how);
      } catch (error) {
        this.#unanswered({ method: "GET", path, key }, url, error);
      }
      if (!ended) await sleep(this.random.between(1, 40));
    }
  }

  /**
   * Follows a run to its end by long polls.
   * @param {Tenant} tenant
   * @param {RunRecord} record
   */
  async pollToEnd({ key }, record) {
    const deadline = Date.now() + this.patienceMs;
    let next = 0;
    for (let ended = false; !ended; ) {
      if (Date.now() > deadline) return this.#stuck("a poll", record, next);
      const query = `lastSequence=${next - 1}&timeout=${this.random.between(1, 3)}`;
      const answer = await this.askOnce({ method: "GET", path: `/v1/runs/${record.runId}/events/poll?${query}`, key });
      if (answer?.status !== 200) {
        this.journal.counts.reconnects += 1;
        await sleep(this.random.between(5, 40));
        continue;
      }
      for (const event of answer.json.events) {
        this.journal.saw(record, event, next, "poll");
        next = event.sequence + 1;
        ended ||= isEnd(event.type);
      }
    }
  }

  /**
   * A judgment that was recorded meanwhile: no part of the log, and nothing to resume after.
   * @param {RunRecord} record
   * @param {string} id
   * @param {{ target?: { runId: string } }} annotation
   */
  #noticed({ runId }, id, annotation) {
    if (id !== "" || annotation.target?.runId !== runId) {
      this.journal.violation("a notice of a judgment that is not for this stream", { runId, id, annotation });
    }
    return false;
  }

  /**
   * @param {string} who
   * @param {RunRecord} record
   * @param {number} next
   */
  #stuck(who, { runId }, next) {
    this.journal.violation(`${who} did not get to the end of a run in time`, { runId, next });
  }

  /**
   * An answer may be a refusal, never a mess.
   * @param {Call} call
   * @param {Answer} answer
   */
  #examine(call, answer) {
    const { status, headers, json, text } = answer;
    const { method, path } = call;
    if (headers["openwop-idempotent-replay"] === "true") this.journal.counts.replayed += 1;
    if (status === 503) this.journal.counts.unavailable += 1;
    if (status === 503 && headers["retry-after"] === undefined) {
      this.journal.violation("a 503 without Retry-After", { method, path, text });
    }
    if (status >= 500 && status !== 503) this.journal.violation("an answer 5xx", { method, path, status, text });
    if (status >= 400 && typeof json?.error !== "string") {
      this.journal.violation("an error without its envelope", { method, path, status, text });
    }
  }

  /**
   * @param {Call} call
   * @param {string} url
   * @param {unknown} error
   */
  #unanswered({ method, path }, url, error) {
    if (!(error instanceof NoAnswer)) throw error;
    this.journal.counts.unanswered += 1;
    if (error.timedOut && this.fleet.answersAt(url)) {
      this.journal.violation("a living server did not answer", { method, path });
    }
  }
}

/** @param {Answer} answer */
export function isTryAgain({ status, json }) {
  if (status === 503 || status === 429) return true;
  return status === 409 && (json?.error === "idempotency_in_flight" || json?.error === "run_version_conflict");
}

/** @param {string} type */
export function isEnd(type) {
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled";
}
