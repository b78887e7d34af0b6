// @ts-check
import { isDeepStrictEqual } from "node:util";

const dist = new URL("../../dist/", import.meta.url);
const pageSize = 1000;

/**
 * Opens the database after every server has gone, folds each run's log, and compares with the row that was derived
 * from it in the append's transaction. From `dist`, because the store's threads are there.
 * @param {import("./journal.js").Journal} journal
 * @param {{ sqlite: string } | { postgres: string }} database
 * @param {readonly string[]} tenants
 * @returns {Promise<{ rows: number, places: Map<string, string> }>} how many rows were compared, and where each change of a
 *   judgment is in the history, by tenant and change
 */
export async function verifyStore(journal, database, tenants = []) {
  const { fold } = await load("protocol/runs/run.js");
  const { wakeAtMs } = await load("protocol/runs/due-times.js");
  const { allRows } = await load("store/rows/interrupt-rows.js");
  const { runFacts } = await load("store/rows/run-rows.js");
  const { tallyRows } = await load("store/rows/feedback-tallies.js");
  if ("sqlite" in database) await checkIntegrity(journal, database.sqlite);
  const store = await openStore(database);
  let compared = 0;
  const places = new Map();
  try {
    for (const tenant of tenants) await readHistory(store, tenant, places);
    for (let after = ""; ; ) {
      /** @type {string[]} */
      const runIds = await store.allRunIds(after, pageSize);
      if (runIds.length === 0) break;
      after = /** @type {string} */ (runIds.at(-1));
      for (const runId of runIds) {
        const [row, stored, rows, judgments, tallies] = await Promise.all([
          store.runRow(runId),
          store.readEvents(runId, 0, 100_000),
          store.interruptRows(runId),
          store.annotationsOfRun(runId, undefined, 100_000),
          store.feedbackRows(runId),
        ]);
        const run = fold(stored.map(toEvent));
        const facts = runFacts(run);
        const derived = {
          runId,
          tenant: run.owner.tenant,
          workspace: run.owner.workspace ?? null,
          workflowId: run.workflowId,
          workflowHash: run.workflowHash,
          status: run.status,
          version: run.version,
          engineVersion: run.engineVersion,
          wakeAtMs: wakeAtMs(run) ?? null,
          agentId: facts.agent_id,
          intervened: facts.intervened === 1,
          // As it is stored: JSON has no `undefined`.
          state: JSON.parse(JSON.stringify(run)),
        };
        if (!isDeepStrictEqual(row, derived)) journal.violation("a row is not the fold of its log", { row, derived });
        const wanted = allRows(run);
        if (!isDeepStrictEqual(plain(rows), wanted)) {
          journal.violation("rows of interrupts are not the fold of their log", { rows, wanted });
        }
        const counted = plain(tallyRows(judgments));
        if (!isDeepStrictEqual(plain(tallies), counted)) {
          journal.violation("what is counted of judgments is not what they say", { runId, tallies, counted });
        }
        compared += 1;
      }
    }
  } finally {
    await store.close();
  }
  return { rows: compared, places };
}

/**
 * @param {any} store
 * @param {string} tenant
 * @param {Map<string, string>} places
 */
async function readHistory(store, tenant, places) {
  for (let after = { seq: 0, n: 0 }; ; ) {
    const page = await store.annotationChanges(tenant, after, pageSize);
    if (page.length === 0) return;
    for (const { place, change, annotation } of page) {
      const name = change === "recorded" ? annotation.annotationId : `${annotation.annotationId}.${change}`;
      places.set(`${tenant} ${name}`, `at-${place.seq}.${place.n}`);
    }
    after = page.at(-1).place;
  }
}

/**
 * Without what a driver makes rows of.
 * @param {unknown} rows
 */
function plain(rows) {
  return JSON.parse(JSON.stringify(rows));
}

/** @param {{ body: string, sealed?: string }} stored */
function toEvent({ body, sealed }) {
  return { ...JSON.parse(body), ...(sealed === undefined ? {} : { sealed: JSON.parse(sealed) }) };
}

/** @param {{ sqlite: string } | { postgres: string }} database */
async function openStore(database) {
  if ("sqlite" in database) {
    const { openSqliteStore } = await load("store/sqlite/sqlite-store.js");
    return openSqliteStore({ path: database.sqlite });
  }
  const { openPostgresStore } = await load("store/postgres/postgres-store.js");
  return openPostgresStore({ url: database.postgres });
}

/**
 * @param {import("./journal.js").Journal} journal
 * @param {string} path
 */
async function checkIntegrity(journal, path) {
  const { openForReading } = await load("store/sqlite/open-database.js");
  const db = await openForReading(path);
  const found = db.prepare("pragma integrity_check").all();
  db.close();
  if (JSON.stringify(found) !== '[{"integrity_check":"ok"}]') journal.violation("the file is not sound", { found });
}

/**
 * A URL as a value, so that the type checker does not look for a build that may not exist yet.
 * @param {string} path
 */
function load(path) {
  return import(new URL(path, dist).href);
}
