// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { inTurns, rateTable } from "./rates.js";
import { KEY, NOOP } from "./subjects.js";

/** @typedef {import("./subjects.js").Subject} Subject */

const KINDS = /** @type {const} */ ([
  ["no webhook", undefined],
  ["a webhook for other events", "run.failed"],
  ["a webhook for its end", "run.completed"],
]);

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

/**
 * What it costs a run that somebody wants to be told of it.
 * @param {import("./sections.js").Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function withWebhook(bench) {
  const { laboratory, load } = bench;
  const receiver = await laboratory.bare();
  const flags = ["--allow-private-webhooks"];
  const measured = [];
  for (const open of [() => laboratory.sqlite(flags), () => laboratory.postgres(1, flags)]) {
    /** @type {Map<Subject, string | undefined>} */
    const webhookOf = new Map();
    for (const [kind, type] of KINDS) {
      const served = await open();
      const subject = { ...served, name: `${served.name}, ${kind}` };
      webhookOf.set(subject, type === undefined ? undefined : await register(subject, receiver, type));
    }
    const rates = await inTurns(bench, [...webhookOf.keys()], [64], async (subject, connections, seconds) => {
      const job = { ports: subject.ports, key: KEY, workflowId: NOOP, connections, seconds };
      const rate = await load.ask("createToCompleted", job);
      await drained(subject, webhookOf.get(subject));
      return rate;
    });
    for (const subject of webhookOf.keys()) await laboratory.stop(subject);
    measured.push(rates);
  }
  return {
    title: "Create a run → completed, with a webhook and without",
    note:
      "Completed runs per second, as above. Each delivery is one more row in the commit and a signed POST to a receiver of " +
      "its own, which shares the cores; what is not delivered when the last run has ended is delivered before the next " +
      "subject's turn, and its processor time counts here.",
    table: measured.flatMap((rates) => rateTable(rates)),
    data: Object.assign({}, ...measured.map(({ data }) => data)),
  };
}

/**
 * @param {Subject} subject
 * @param {Subject} receiver
 * @param {string} type
 * @returns {Promise<string>}
 */
async function register({ processes: [host] }, { processes: [at] }, type) {
  const body = JSON.stringify({ url: `${at?.url}/hook`, events: [type] });
  const answer = await fetch(`${host?.url}/v1/webhooks`, { method: "POST", headers, body });
  if (answer.status !== 201) throw new Error(`no webhook: ${answer.status} ${await answer.text()}`);
  return /** @type {{ webhookId: string }} */ (await answer.json()).webhookId;
}

/**
 * @param {Subject} subject
 * @param {string | undefined} webhookId
 */
async function drained({ processes: [host] }, webhookId) {
  if (webhookId === undefined) return;
  const url = `${host?.url}/v1/host/assay/webhooks/${webhookId}/deliveries?state=pending&limit=1`;
  for (;;) {
    const { deliveries } = /** @type {{ deliveries: unknown[] }} */ (await (await fetch(url, { headers })).json());
    if (deliveries.length === 0) return;
    await sleep(20);
  }
}
