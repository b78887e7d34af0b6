// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { isEnd } from "./client.js";
import { WORKFLOWS } from "./workflows.js";

/**
 * @typedef {import("./journal.js").Journal} Journal
 * @typedef {import("./client.js").Tenant} Tenant
 * @typedef {{ runId: string, status: string, workflowId: string, tags?: string[] }} Snapshot
 * @typedef {{ eventId: string, runId: string, sequence: number, type: string, payload: any, nodeId?: string }} LoggedEvent
 */

const endOfRunsMaxMs = 60_000;
const readersAtOnce = 16;

/**
 * Asks the servers, after the last crash, for everything they have, and compares it with the journal.
 * @param {import("./client.js").Client} client
 * @param {readonly Tenant[]} tenants
 * @returns {Promise<{ runs: number, events: number, auditEntries: number, settleMs: number }>}
 */
export async function verifyOverHttp(client, tenants) {
  const { journal } = client;
  const settleMs = await untilAllEnded(client, tenants);
  let events = 0;
  let auditEntries = 0;
  /** @type {Map<string, Snapshot>} */
  const runs = new Map();
  for (const tenant of tenants) {
    const own = await listRuns(client, tenant);
    for (const run of own) {
      if (runs.has(run.runId)) journal.violation("a run is listed twice", { runId: run.runId });
      runs.set(run.runId, run);
    }
    await inParallel(own, async (run) => {
      const log = await readLog(client, tenant, run.runId);
      events += log.length;
      checkLog(journal, run, log);
    });
    auditEntries += await checkAudit(client, tenant, own);
  }
  checkRuns(journal, runs);
  await checkWorkflows(client, tenants);
  return { runs: runs.size, events, auditEntries, settleMs };
}

/**
 * @param {import("./client.js").Client} client
 * @param {readonly Tenant[]} tenants
 */
async function untilAllEnded(client, tenants) {
  const startedMs = performance.now();
  const unfinished = ["pending", "running", "paused", "cancelling"];
  for (;;) {
    /** @type {Snapshot[]} */
    const left = [];
    for (const { key } of tenants) {
      for (const status of unfinished) {
        left.push(...(await get(client, key, `/v1/runs?limit=5&status=${status}`)).runs);
      }
    }
    const waitedMs = performance.now() - startedMs;
    if (left.length === 0) return waitedMs;
    if (waitedMs > endOfRunsMaxMs) {
      client.journal.violation("runs did not end", { some: left });
      return waitedMs;
    }
    await sleep(50);
  }
}

/**
 * @param {import("./client.js").Client} client
 * @param {Tenant} tenant
 * @returns {Promise<Snapshot[]>}
 */
async function listRuns(client, { key }) {
  /** @type {Snapshot[]} */
  const runs = [];
  let cursor = "";
  do {
    const page = await get(client, key, `/v1/runs?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`);
    runs.push(...page.runs);
    cursor = page.nextCursor ?? "";
  } while (cursor !== "");
  return runs;
}

/**
 * @param {import("./client.js").Client} client
 * @param {Tenant} tenant
 * @param {string} runId
 * @returns {Promise<LoggedEvent[]>}
 */
async function readLog(client, { key }, runId) {
  const answer = await get(client, key, `/v1/runs/${runId}/events`, { accept: "application/json" });
  return answer.events;
}

/**
 * Every acknowledged run is there, and no attempt made two.
 * @param {Journal} journal
 * @param {Map<string, Snapshot>} runs
 */
function checkRuns(journal, runs) {
  for (const record of journal.runs.values()) {
    const run = runs.get(record.runId);
    if (run === undefined) journal.violation("an acknowledged run is gone", { ...record, seen: undefined });
    else if (record.cancelled && run.status !== "cancelled") {
      journal.violation("an acknowledged cancellation is gone", { runId: run.runId, status: run.status });
    }
  }
  /** @type {Map<string, string[]>} */
  const runsOf = new Map();
  for (const { runId, tags = [] } of runs.values()) {
    const tag = tags[0] ?? "none";
    runsOf.set(tag, [...(runsOf.get(tag) ?? []), runId]);
    if (!journal.attempts.has(tag)) journal.violation("a run that nobody asked for", { runId, tag });
  }
  for (const [tag, runIds] of runsOf) {
    if (runIds.length > 1) journal.violation("one attempt made several runs", { tag, runIds });
  }
}

/**
 * @param {Journal} journal
 * @param {Snapshot} run
 * @param {readonly LoggedEvent[]} log
 */
function checkLog(journal, run, log) {
  const { runId } = run;
  /**
   * @param {string} what
   * @param {object} [details]
   */
  const wrong = (what, details = {}) =>
    journal.violation(what, { runId, ...details, log: log.map((event) => `${event.sequence} ${event.type}`) });

  if (log.some((event, i) => event.sequence !== i || event.runId !== runId)) wrong("a gap or repeat in a log");
  if (new Set(log.map((event) => event.eventId)).size !== log.length) wrong("an event id occurs twice");
  if (log[0]?.type !== "run.started") wrong("a log that does not begin with run.started");
  const ends = log.filter((event) => isEnd(event.type));
  if (ends.length !== 1 || ends[0] !== log.at(-1)) wrong("a run that does not end exactly once, at its end");
  if (ends[0] !== undefined && ends[0].type !== `run.${run.status}`) wrong("a status that is not that of the log", run);
  checkNodes(run, log, wrong);

  const record = journal.runs.get(runId);
  if (record === undefined) return;
  for (const [sequence, eventId] of record.seen.entries()) {
    if (eventId !== undefined && log[sequence]?.eventId !== eventId)
      wrong("an event that was seen is gone", { sequence });
  }
  const { pauses, resumes } = countPauses(log, wrong);
  if (pauses !== record.pauses) wrong("pauses do not match", { acknowledged: record.pauses, logged: pauses });
  if (resumes !== record.resumes) wrong("resumes do not match", { acknowledged: record.resumes, logged: resumes });
  const expected = /** @type {import("./workflows.js").TortureWorkflow} */ (WORKFLOWS[record.workflow]).ends;
  if (run.status !== expected && !(run.status === "cancelled" && record.cancelAsked)) wrong("an unexpected end", run);
}

/**
 * Each attempt of a node begins once, each node completes at most once, and the run does all that its workflow says.
 * @param {Snapshot} run
 * @param {readonly LoggedEvent[]} log
 * @param {(what: string, details?: object) => void} wrong
 */
function checkNodes(run, log, wrong) {
  const attempts = log
    .filter((event) => event.type === "node.started")
    .map((event) => `${event.payload.nodeId}#${event.payload.attempt}`);
  if (new Set(attempts).size !== attempts.length) wrong("an attempt of a node began twice", { attempts });

  const completed = log.filter((event) => event.type === "node.completed").map((event) => event.payload.nodeId);
  if (new Set(completed).size !== completed.length) wrong("a node completed twice", { completed });
  const workflow = Object.values(WORKFLOWS).find(({ definition }) => definition["id"] === run.workflowId);
  if (workflow === undefined || run.status === "cancelled") return;
  if (completed.join() !== workflow.completes.join()) wrong("a node was left out or came too early", { completed });
}

/**
 * @param {readonly LoggedEvent[]} log
 * @param {(what: string, details?: object) => void} wrong
 */
function countPauses(log, wrong) {
  let pauses = 0;
  let resumes = 0;
  let draining = false;
  let paused = false;
  for (const { type } of log) {
    if (paused && type.startsWith("node.") && type !== "node.cancelled")
      wrong("a node went on while the run was paused");
    if (type === "assay.pause.requested") {
      pauses += 1;
      draining = true;
    } else if (type === "run.paused") {
      if (!draining) pauses += 1;
      draining = false;
      paused = true;
    } else if (type === "assay.pause.withdrawn" || type === "run.resumed") {
      resumes += 1;
      draining = false;
      paused = false;
    }
  }
  return { pauses, resumes };
}

/**
 * The chain verifies from its first entry to its last, and tells of each run what its log tells.
 * @param {import("./client.js").Client} client
 * @param {Tenant} tenant
 * @param {readonly Snapshot[]} runs
 */
async function checkAudit(client, { tenant, key }, runs) {
  const { journal } = client;
  /** @type {{ atSequence: number, action: string, target: string }[]} */
  const entries = [];
  let fromSeq = 1;
  for (;;) {
    const page = await get(client, key, `/v1/host/assay/audit/entries?limit=1000&fromSeq=${fromSeq}`);
    entries.push(...page.entries);
    if (page.nextSeq === undefined) break;
    fromSeq = page.nextSeq;
  }
  if (entries.some((entry, i) => entry.atSequence !== i + 1)) journal.violation("a gap in the audit chain", { tenant });

  const verified = await get(client, key, `/v1/audit/verify?fromSeq=1&toSeq=${Math.max(1, entries.length)}`);
  const { chainValid, checkpointsValid, anomalies } = verified;
  if (!chainValid || !checkpointsValid) {
    journal.violation("the audit chain does not verify", { tenant, chainValid, checkpointsValid, anomalies });
  }
  /** @type {Map<string, number>} */
  const told = new Map();
  for (const { action, target } of entries) {
    const entry = `${action} ${target}`;
    told.set(entry, (told.get(entry) ?? 0) + 1);
  }
  for (const { runId, status } of runs) {
    const record = journal.runs.get(runId);
    const expected = {
      "run.created": 1,
      "run.cancelled": status === "cancelled" ? 1 : 0,
      ...(record === undefined ? {} : { "run.paused": record.pauses, "run.resumed": record.resumes }),
    };
    for (const [action, times] of Object.entries(expected)) {
      const found = told.get(`${action} ${runId}`) ?? 0;
      if (found !== times) journal.violation("the audit log does not match", { runId, action, expected: times, found });
    }
  }
  const created = entries.filter((entry) => entry.action === "run.created").length;
  if (created !== runs.length) {
    journal.violation("the audit log has other runs than the list", { tenant, created, listed: runs.length });
  }
  return entries.length;
}

/**
 * @param {import("./client.js").Client} client
 * @param {readonly Tenant[]} tenants
 */
async function checkWorkflows(client, tenants) {
  for (const { tenant, definition } of client.journal.workflows.values()) {
    const key = tenants.find((one) => one.tenant === tenant)?.key ?? "";
    const found = await get(client, key, `/v1/workflows/${definition.id}`);
    if (found.version !== definition.version) {
      client.journal.violation("an acknowledged workflow is gone", { tenant, definition, found });
    }
  }
}

/**
 * @param {import("./client.js").Client} client
 * @param {string} key
 * @param {string} path
 * @param {Record<string, string>} headers
 */
async function get(client, key, path, headers = {}) {
  const answer = await client.ask({ method: "GET", path, key, headers });
  if (answer.status === 200) return answer.json;
  client.journal.violation("a read was refused", { path, status: answer.status, text: answer.text.slice(0, 500) });
  return { runs: [], events: [], entries: [] };
}

/**
 * @template T
 * @param {readonly T[]} items
 * @param {(item: T) => Promise<void>} deed
 */
async function inParallel(items, deed) {
  const queue = items[Symbol.iterator]();
  const work = async () => {
    for (const item of queue) await deed(item);
  };
  await Promise.all(Array.from({ length: readersAtOnce }, work));
}
