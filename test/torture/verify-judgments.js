// @ts-check
import { get } from "./reading.js";

/**
 * Every acknowledged judgment is there, once, as it was left.
 * @param {import("./client.js").Client} client
 * @param {import("./tenants.js").Tenant} tenant
 * @returns {Promise<any[]>} all of the tenant, oldest first
 */
export async function checkJudgments(client, { tenant, key }) {
  const { journal } = client;
  const all = await listJudgments(client, key);
  const byId = new Map(all.map((one) => [one.annotationId, one]));
  if (byId.size !== all.length) journal.violation("a judgment is listed twice", { tenant });
  for (const wanted of journal.judgments.values()) {
    if (wanted.tenant !== tenant) continue;
    const found = byId.get(wanted.annotationId);
    if (found === undefined) {
      journal.violation("an acknowledged judgment is gone", { wanted });
      continue;
    }
    const said = found.note === wanted.note && JSON.stringify(found.signal) === JSON.stringify(wanted.signal);
    if (!said || found.target.runId !== wanted.runId)
      journal.violation("a judgment says something else", { found, wanted });
    if (wanted.busy) continue;
    if (found.state !== wanted.state || found.flag?.status !== wanted.flag) {
      journal.violation("what became of a judgment is lost", { found, wanted });
    }
  }
  /** @type {Map<string, string>} */
  const notes = new Map();
  for (const { note, annotationId } of all) {
    if (notes.has(note))
      journal.violation("one judgment was recorded twice", { note, annotationId, and: notes.get(note) });
    notes.set(note, annotationId);
  }
  return all;
}

/**
 * @param {import("./client.js").Client} client
 * @param {string} key
 */
async function listJudgments(client, key) {
  /** @type {any[]} */
  const all = [];
  let cursor = "";
  do {
    const path = `/v1/host/assay/annotations?order=oldest&limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const page = await get(client, key, path);
    all.push(...(page.annotations ?? []));
    cursor = page.nextCursor ?? "";
  } while (cursor !== "");
  return all;
}
