// @ts-check
import { setTimeout as sleep } from "node:timers/promises";
import { isEnd } from "./client.js";
import { get, inParallel } from "./reading.js";
import { checkAudit } from "./verify-audit.js";
import { checkFamilies } from "./verify-families.js";
import { checkGates } from "./verify-gates.js";
import { checkJudgments } from "./verify-judgments.js";
import { checkReplays } from "./verify-replays.js";
import { WORKFLOWS } from "./workflows.js";

/**
 * @typedef {import("./journal.js").Journal} Journal
 * @typedef {import("./tenants.js").Tenant} Tenant
 * @typedef {{ runId: string, status: string, workflowId: string, tags?: string[], parentRunId?: string, metadata?: any }} Snapshot
 * @typedef {object} LoggedEvent
 * @property {string} eventId
 * @property {string} runId
 * @property {number} sequence
 * @property {string} type
 * @property {string} timestamp
 * @property {any} payload
 * @property {string} [nodeId]
 *
 * @typedef {object} Found
 * @property {number} runs
 * @property {number} events
 * @property {number} auditEntries
 * @property {number} settleMs until everything had ended after the last crash
 * @property {number} interrupts
 * @property {number} votes
 * @property {number} deliveries of different events
 * @property {number} repeated deliveries of an event that had been delivered
 * @property {number} judgments
 * @property {number} replays
 * @property {readonly { tenant: string, change: string }[]} lost changes of judgments that no follower heard of
 */

const endOfRunsMaxMs = 60_000;

/** @type {Found} */
export const NOTHING_FOUND = {
  runs: 0,
  events: 0,
  auditEntries: 0,
  settleMs: 0,
  interrupts: 0,
  votes: 0,
  deliveries: 0,
  repeated: 0,
  judgments: 0,
  replays: 0,
  lost: [],
};

/**
 * Asks the servers, after the last crash, for everything they have, and compares it with the journal.
 * @param {import("./client.js").Client} client
 * @param {readonly Tenant[]} tenants
 * @param {import("./deliveries.js").Deliveries} deliveries
 * @param {ReadonlyMap<string, import("./judgment-follower.js").JudgmentFollower>} followers by tenant
 * @returns {Promise<Found>}
 */
export async function verifyOverHttp(client, tenants, deliveries, followers) {
  const { journal } = client;
  /** @type {{ tenant: string, change: string }[]} */
  const lost = [];
  const found = { ...NOTHING_FOUND, lost, settleMs: await untilAllEnded(client, tenants) };
  await deliveries.untilDrained(client);
  /** @type {Map<string, Snapshot>} */
  const runs = new Map();
  /** @type {Map<string, readonly LoggedEvent[]>} */
  const logs = new Map();
  for (const tenant of tenants) {
    const listed = await listRuns(client, tenant);
    const own = listed.filter((run) => run.metadata?.forkedFrom === undefined);
    const replays = new Map(listed.filter((run) => !own.includes(run)).map((run) => [run.runId, run]));
    found.replays += replays.size;
    for (const run of own) {
      if (runs.has(run.runId)) journal.violation("a run is listed twice", { runId: run.runId });
      runs.set(run.runId, run);
    }
    await inParallel(own, async (run) => {
      const log = await readLog(client, tenant, run.runId);
      logs.set(run.runId, log);
      checkLog(journal, run, log);
    });
    /** @type {Map<string, readonly LoggedEvent[]>} */
    const replayed = new Map();
    await inParallel([...replays.keys()], async (runId) => {
      replayed.set(runId, await readLog(client, tenant, runId));
    });
    checkReplays(journal, tenant.tenant, replays, replayed, logs);
    const judgments = await checkJudgments(client, tenant);
    await followers
      .get(tenant.tenant)
      ?.check(judgments, (change) => found.lost.push({ tenant: tenant.tenant, change }));
    found.judgments += judgments.length;
    found.auditEntries += await checkAudit(client, tenant, own, logs);
    deliveries.check(
      tenant,
      own.flatMap(({ runId }) => logs.get(runId) ?? []),
    );
  }
  checkRuns(journal, runs);
  checkFamilies(journal, runs, logs);
  await checkWorkflows(client, tenants);
  const all = [...logs.values()].flat();
  const countOf = (/** @type {string} */ type) => all.filter((event) => event.type === type).length;
  return {
    ...found,
    runs: runs.size + found.replays,
    events: all.length,
    interrupts: countOf("interrupt.requested"),
    votes: countOf("assay.vote.recorded"),
    ...deliveries.counts(),
  };
}

/**
 * @param {import("./client.js").Client} client
 * @param {readonly Tenant[]} tenants
 */
async function untilAllEnded(client, tenants) {
  const startedMs = performance.now();
  const waiting = ["waiting-approval", "waiting-input", "waiting-external"];
  const unfinished = ["pending", "running", "paused", "cancelling", ...waiting];
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
  for (const { runId, tags = [], parentRunId } of runs.values()) {
    // A dispatched run has the tags of its parent.
    if (parentRunId !== undefined) continue;
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
  const record = journal.runs.get(runId);
  checkNodes(run, log, wrong);
  checkGates(run, log, record, wrong);
  if (record === undefined) return;
  for (const [sequence, eventId] of record.seen.entries()) {
    if (eventId !== undefined && log[sequence]?.eventId !== eventId)
      wrong("an event that was seen is gone", { sequence });
  }
  const { pauses, resumes } = countPauses(log, wrong);
  if (pauses !== record.pauses) wrong("pauses do not match", { acknowledged: record.pauses, logged: pauses });
  if (resumes !== record.resumes) wrong("resumes do not match", { acknowledged: record.resumes, logged: resumes });
  const { ends: expected } = /** @type {import("./workflows.js").TortureWorkflow} */ (WORKFLOWS[record.workflow]);
  const mayBeCancelled = record.cancelAsked || record.cascadeAsked;
  if (!expected.includes(run.status) && !(run.status === "cancelled" && mayBeCancelled))
    wrong("an unexpected end", run);
}

/**
 * Each attempt of a node begins once, each node completes at most once, and the run does all that its workflow says.
 * @param {Snapshot} run
 * @param {readonly LoggedEvent[]} log
 * @param {(what: string, details?: object) => void} wrong
 */
function checkNodes(run, log, wrong) {
  const workflow = Object.values(WORKFLOWS).find(({ definition }) => definition["id"] === run.workflowId);
  // A gate may send its run round again.
  if (workflow !== undefined && workflow.completes === undefined) return;
  const attempts = log
    .filter((event) => event.type === "node.started")
    .map((event) => `${event.payload.nodeId}#${event.payload.attempt}`);
  if (new Set(attempts).size !== attempts.length) wrong("an attempt of a node began twice", { attempts });

  const completed = log.filter((event) => event.type === "node.completed").map((event) => event.payload.nodeId);
  if (new Set(completed).size !== completed.length) wrong("a node completed twice", { completed });
  if (workflow?.completes === undefined || run.status === "cancelled") return;
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
