// @ts-check
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { get } from "./reading.js";

/**
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {import("./verify.js").LoggedEvent} LoggedEvent
 * @typedef {{ tenant: string, key: string, webhookId: string, secret: string }} Registered
 */

/** Different for each tenant, so that what belongs to one is noticed at the other. */
const WANTED = /** @type {const} */ ({
  t1: ["interrupt.requested", "interrupt.resolved", "run.completed", "run.failed", "run.cancelled"],
  t2: ["approval.granted", "approval.received", "interrupt.resolved"],
});

const drainMaxMs = 60_000;

/** How long another host may go without knowing of a new webhook. */
const unnoticedMaxMs = 1100;

/** A receiver of webhooks that lives through every crash, fails now and then, and remembers what came. */
export class Deliveries {
  #journal;
  #random;
  #server;
  /** @type {Map<string, Registered>} */
  #registered = new Map();
  /** By tenant and event id. @type {Map<string, { event: LoggedEvent, times: number }>} */
  #received = new Map();

  /**
   * @param {import("./journal.js").Journal} journal
   * @param {import("./random.js").Random} random
   */
  constructor(journal, random) {
    this.#journal = journal;
    this.#random = random;
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      this.#take(request.headers, request.url ?? "", body);
      const mood = this.#random.next();
      // Taken, but the sender does not learn of it.
      if (mood < 0.02) response.destroy();
      else response.writeHead(mood < 0.05 ? 503 : 204).end();
    });
  }

  /**
   * @param {import("./journal.js").Journal} journal
   * @param {import("./random.js").Random} random
   */
  static async listen(journal, random) {
    const deliveries = new Deliveries(journal, random);
    await new Promise((resolve) => deliveries.#server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return deliveries;
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  /**
   * @param {import("./client.js").Client} client
   * @param {readonly Tenant[]} tenants
   */
  async register(client, tenants) {
    const address = this.#server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    for (const { tenant, key } of tenants) {
      const body = { url: `http://127.0.0.1:${port}/${tenant}`, events: wantedBy(tenant) };
      const answer = await client.askOnce({ method: "POST", path: "/v1/webhooks", key, body });
      if (answer?.status !== 201) throw new Error(`no webhook: ${answer?.status} ${answer?.text}`);
      const { webhookId, secret } = answer.json;
      this.#registered.set(webhookId, { tenant, key, webhookId, secret });
    }
    if (client.fleet.size > 1) await sleep(unnoticedMaxMs);
  }

  /** @param {import("./client.js").Client} client */
  async untilDrained(client) {
    const endMs = Date.now() + drainMaxMs;
    for (const { key, webhookId } of this.#registered.values()) {
      const path = `/v1/host/assay/webhooks/${webhookId}/deliveries?limit=5`;
      while ((await get(client, key, `${path}&state=pending`)).deliveries.length > 0) {
        if (Date.now() > endMs) return this.#journal.violation("deliveries did not end", { webhookId });
        await sleep(50);
      }
      const { deliveries: dead } = await get(client, key, `${path}&state=dead`);
      if (dead.length > 0) this.#journal.violation("a delivery was given up", { dead });
    }
  }

  /**
   * Every event that was wanted came, as it is in the log, and nothing else did.
   * @param {Tenant} tenant
   * @param {readonly LoggedEvent[]} logged all that its logs hold
   */
  check({ tenant }, logged) {
    const byId = new Map(logged.map((event) => [event.eventId, event]));
    for (const event of logged) {
      if (wantedBy(tenant).includes(event.type) && !this.#received.has(`${tenant}/${event.eventId}`)) {
        this.#journal.violation("a delivery was lost", { tenant, event });
      }
    }
    for (const [name, { event }] of this.#received) {
      if (!name.startsWith(`${tenant}/`)) continue;
      const { eventId, type } = event;
      if (!wantedBy(tenant).includes(type)) this.#journal.violation("a delivery that nobody wanted", { tenant, event });
      if (!isDeepStrictEqual(event, byId.get(eventId))) {
        this.#journal.violation("a delivery that is not in the tenant's logs", { tenant, event });
      }
    }
  }

  counts() {
    const times = [...this.#received.values()].reduce((sum, one) => sum + one.times, 0);
    return { deliveries: this.#received.size, repeated: times - this.#received.size };
  }

  /**
   * @param {import("node:http").IncomingHttpHeaders} headers
   * @param {string} path
   * @param {string} body
   */
  #take(headers, path, body) {
    const hook = this.#registered.get(String(headers["x-openwop-webhook-id"]));
    const timestamp = headers["x-openwop-timestamp"];
    const mac = createHmac("sha256", hook?.secret ?? "")
      .update(`${timestamp}.${body}`)
      .digest("hex");
    if (hook === undefined || path !== `/${hook.tenant}` || headers["x-openwop-signature"] !== `sha256=${mac}`) {
      this.#journal.violation("a delivery that is not signed for whom it went to", { path, headers, body });
      return;
    }
    const { event } = JSON.parse(body);
    const name = `${hook.tenant}/${event.eventId}`;
    const before = this.#received.get(name);
    if (before !== undefined && !isDeepStrictEqual(before.event, event)) {
      this.#journal.violation("a repeated delivery differs from the first", { before: before.event, event });
    }
    this.#received.set(name, { event, times: (before?.times ?? 0) + 1 });
  }
}

/**
 * @param {string} tenant
 * @returns {readonly string[]}
 */
function wantedBy(tenant) {
  return tenant === "t1" ? WANTED.t1 : WANTED.t2;
}
