// @ts-check
import { isEnd } from "../client.js";
import { get, inParallel } from "../reading.js";
import { DEPLOYED, HANDED_OUT } from "./setting.js";
import { checkEvaluation } from "./verify-evaluation.js";

/**
 * @typedef {import("./deeds.js").Begun} Begun
 * @typedef {import("./deeds.js").World} World
 * @typedef {import("../tenants.js").Tenant} Tenant
 * @typedef {import("../verify.js").LoggedEvent} LoggedEvent
 *
 * @typedef {object} Found
 * @property {number} runs
 * @property {number} events
 * @property {number} resumed runs in which a node was begun again
 * @property {number} calls of the program in evaluations
 * @property {number} again calls of a trial that had been called before, but had no score
 * @property {number} late calls after the task had its score
 * @property {number} transitions of deployments
 */

/** @type {Found} */
export const NOTHING_FOUND = { runs: 0, events: 0, resumed: 0, calls: 0, again: 0, late: 0, transitions: 0 };

/**
 * @param {import("../client.js").Client} client
 * @param {World} world
 * @param {string} traces
 * @returns {Promise<Found>}
 */
export async function verify(client, world, traces) {
  const found = { ...NOTHING_FOUND };
  const begun = [...world.runs.values()];
  await inParallel(begun, async (one) => {
    const log = await logOf(client, one.tenant, one.runId);
    found.runs += 1;
    found.events += log.length;
    const again = log.some(({ type, payload }) => type === "node.started" && payload.attempt > 1);
    if (again) found.resumed += 1;
    /**
     * @param {string} what
     * @param {object} [details]
     */
    const wrong = (what, details = {}) =>
      client.journal.violation(what, { ...one, seen: undefined, ...details, log: log.map(({ type }) => type).join() });
    checkLog(one, log, wrong);
    if (one.kind === "agents") checkAgents(log, wrong);
    if (one.kind === "led") await checkLed(client, one, log, wrong);
    if (one.kind !== "evaluation") return;
    const completed = log.at(-1)?.type === "run.completed";
    const summary = completed ? await get(client, one.tenant.key, `/v1/runs/${one.runId}/eval-summary`) : undefined;
    const calls = checkEvaluation(one, log, summary, traces, wrong);
    found.calls += calls.made;
    found.again += calls.again;
    found.late += calls.late;
  });
  for (const tenant of world.tenants) found.transitions += await checkDeployments(client, world, tenant);
  return found;
}

/**
 * @param {Begun} begun
 * @param {readonly LoggedEvent[]} log
 * @param {(what: string, details?: object) => void} wrong
 */
function checkLog({ runId, seen }, log, wrong) {
  if (log.some((event, i) => event.sequence !== i || event.runId !== runId)) wrong("a gap or repeat in a log");
  const ends = log.filter(({ type }) => isEnd(type));
  if (ends.length !== 1 || ends[0] !== log.at(-1)) wrong("a run that does not end exactly once, at its end");
  for (const [sequence, eventId] of seen.entries()) {
    if (eventId !== undefined && log[sequence]?.eventId !== eventId)
      wrong("an event that was seen is gone", { sequence });
  }
  const completed = log.filter(({ type }) => type === "node.completed");
  const eventIds = new Set(log.map(({ eventId }) => eventId));
  if (eventIds.size !== log.length) wrong("an event id occurs twice", { completed: completed.length });
}

/**
 * Each node asks its agent once in an attempt, and completes once with an answer; and the agent has remembered something.
 * @param {readonly LoggedEvent[]} log
 * @param {(what: string, details?: object) => void} wrong
 */
function checkAgents(log, wrong) {
  if (log.at(-1)?.type !== "run.completed") wrong("a run with agents did not complete");
  for (const node of ["program", "scripted"]) {
    const of = (/** @type {string} */ type) => log.filter((event) => event.type === type && event.nodeId === node);
    const begun = of("agent.invocation.started").length;
    const ended = of("agent.invocation.completed").filter(({ payload }) => payload.outcome === "completed").length;
    if (of("node.completed").length !== 1) wrong("a node that did not complete once", { node });
    // An answer and the completion of its node are one commit; one that was lost before that is asked for again.
    if (ended !== 1 || begun > of("node.started").length) {
      wrong("invocations do not match", { node, begun, ended });
    }
  }
  if (!log.some(({ type }) => type === "memory.written")) wrong("nothing was remembered");
}

/**
 * @param {import("../client.js").Client} client
 * @param {Begun} begun
 * @param {readonly LoggedEvent[]} log
 * @param {(what: string, details?: object) => void} wrong
 */
async function checkLed(client, { tenant }, log, wrong) {
  const of = (/** @type {string} */ type) => log.filter((event) => event.type === type);
  if (log.at(-1)?.type !== "run.completed") wrong("a supervised run did not complete");
  if (of("runOrchestrator.decided").length !== HANDED_OUT) wrong("something was decided twice or not at all");
  const children = [...new Set(of("node.dispatched").map(({ payload }) => payload.childRunId))];
  if (children.length !== HANDED_OUT) wrong("work was handed out twice or not at all", { children });
  for (const childRunId of children) {
    const { status } = await get(client, tenant.key, `/v1/runs/${childRunId}`);
    if (status !== "completed") wrong("a worker did not complete", { childRunId, status });
  }
}

/** @type {Readonly<Record<string, readonly string[]>>} */
const BEFORE = { test: ["draft"], staged: ["test"], active: ["staged", "paused"], paused: ["active"] };

/**
 * Each transition that was acknowledged came about once, each follows from the one before, and the last one is how things are.
 * @param {import("../client.js").Client} client
 * @param {World} world
 * @param {Tenant} tenant
 */
async function checkDeployments(client, { deployed, journal }, tenant) {
  const { key } = tenant;
  /** @type {{ version: string, toState: string, order: string }[]} */
  const changes = [];
  for (let cursor = ""; ; ) {
    const page = await get(client, key, `/v1/runs?limit=200&workflowId=assay-deployment${cursor}`);
    await inParallel(page.runs, async ({ runId }) => {
      for (const { type, payload, timestamp } of await logOf(client, tenant, runId)) {
        const { version = payload.toVersion, toState } = payload;
        if (type.startsWith("deployment.")) changes.push({ version, toState, order: `${timestamp} ${runId}` });
      }
    });
    if (page.nextCursor === undefined) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  const acknowledged = deployed.filter((one) => one.tenant === tenant);
  for (const { version, state } of await get(client, key, `/v1/agents/${DEPLOYED}/deployments`)) {
    const told = changes.filter((change) => change.version === version).sort((a, b) => (a.order < b.order ? -1 : 1));
    const mine = acknowledged.filter((one) => one.version === version).length;
    const details = { tenant: tenant.tenant, version, state, mine, told };
    if (told.length !== mine) journal.violation("transitions were lost or came about twice", details);
    const states = ["draft", ...told.map(({ toState }) => toState)];
    const follows = states.slice(1).every((to, i) => BEFORE[to]?.includes(states[i] ?? ""));
    if (!follows) journal.violation("a transition does not follow from the one before", details);
    if (states.at(-1) !== state) journal.violation("what is deployed is not what was told", details);
  }
  return changes.length;
}

/**
 * @param {import("../client.js").Client} client
 * @param {Tenant} tenant
 * @param {string} runId
 * @returns {Promise<LoggedEvent[]>}
 */
async function logOf(client, { key }, runId) {
  return (await get(client, key, `/v1/runs/${runId}/events`, { accept: "application/json" })).events;
}
