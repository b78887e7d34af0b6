// @ts-check
import { APPROVERS } from "./tenants.js";

/**
 * @typedef {import("./verify.js").LoggedEvent} LoggedEvent
 * @typedef {import("./verify.js").Snapshot} Snapshot
 * @typedef {import("./journal.js").RunRecord} RunRecord
 * @typedef {(what: string, details?: object) => void} Wrong
 */

/** An outcome after which a run may pass its gate. */
const opens = ["granted", "answered"];

/**
 * No gate opened without those it asks for, each was decided once, and everything that was acknowledged is in the log.
 * @param {Snapshot} run
 * @param {readonly LoggedEvent[]} log
 * @param {RunRecord | undefined} record
 * @param {Wrong} wrong
 */
export function checkGates(run, log, record, wrong) {
  const asked = log.filter(({ type }) => type === "interrupt.requested");
  const keys = asked.map(({ payload }) => payload.key);
  if (new Set(keys).size !== keys.length) wrong("a key was asked twice", { keys });
  for (const requested of asked) {
    const { interruptId } = requested.payload;
    const ends = log.filter(
      ({ type, payload }) => type === "interrupt.resolved" && payload.interruptId === interruptId,
    );
    if (ends.length > 1) wrong("an interrupt was resolved twice", { interruptId });
    const [end] = ends;
    if (end === undefined) {
      if (run.status !== "cancelled") wrong("an interrupt was left open by its run", { interruptId });
    } else checkVerdict(requested, end, votesBefore(log, end), wrong);
  }
  checkPassed(run, log, asked.length, wrong);
  if (record !== undefined) checkAcknowledged(log, record, wrong);
}

/**
 * The last vote of each voter, as it stood when the gate was decided.
 * @param {readonly LoggedEvent[]} log
 * @param {LoggedEvent} end
 * @returns {{ voter: string, principal: string, action: string }[]}
 */
function votesBefore(log, { sequence, payload: { interruptId } }) {
  /** @type {Map<string, { voter: string, principal: string, action: string }>} */
  const votes = new Map();
  for (const { type, payload } of log.slice(0, sequence)) {
    if (type === "assay.vote.recorded" && payload.interruptId === interruptId) votes.set(payload.voter, payload);
  }
  return [...votes.values()];
}

/**
 * @param {LoggedEvent} requested
 * @param {LoggedEvent} end
 * @param {ReturnType<typeof votesBefore>} votes
 * @param {Wrong} wrong
 */
function checkVerdict({ payload: { kind, data, timeoutMs }, timestamp }, { payload }, votes, wrong) {
  if (kind !== "approval") return;
  const { interruptId, outcome, reason, resolvedBy, resolvedAt } = payload;
  const required = data.quorum ?? data.requiredApprovals ?? 1;
  const accepts = new Set(votes.filter(({ action }) => action === "accept").map(({ principal }) => principal));
  const rejects = votes.filter(({ action }) => action === "reject").length;
  const details = { interruptId, outcome, required, votes };
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.parse(timestamp) + timeoutMs;
  const inTime = Date.parse(resolvedAt) < deadline;
  const named = data.gateId !== undefined || (data.approversList ?? []).length > 0;
  if (named && votes.some(({ voter, principal }) => voter !== principal || !APPROVERS.includes(voter))) {
    wrong("somebody voted who may not", details);
  }
  if (outcome === "granted") {
    if (accepts.size < required) wrong("a gate was released by fewer principals than it asks for", details);
    if (rejects >= against(data, required)) wrong("a gate was released against a veto", details);
    if (!inTime) wrong("a gate opened after its deadline", details);
  } else if (reason === "timeout" && resolvedBy === undefined) {
    if (inTime) wrong("a gate ran out of time too early", details);
  } else if (rejects < against(data, required)) wrong("a gate was rejected by too few", details);
}

/**
 * @param {{ gateId?: string, rejectionPolicy?: string }} data
 * @param {number} required
 */
function against({ gateId, rejectionPolicy }, required) {
  return gateId === undefined && rejectionPolicy === "majority" ? Math.floor(required / 2) + 1 : 1;
}

/**
 * What lies behind a gate happens after it was opened, and not otherwise.
 * @param {Snapshot} run
 * @param {readonly LoggedEvent[]} log
 * @param {number} asked
 * @param {Wrong} wrong
 */
function checkPassed(run, log, asked, wrong) {
  if (asked === 0) return;
  let outcome = "none";
  for (const { type, payload } of log) {
    if (type === "interrupt.resolved") outcome = payload.outcome;
    const passes = type === "run.completed" || (type === "node.started" && payload.nodeId === "after");
    if (passes && !opens.includes(outcome)) wrong("a run went past a closed gate", { outcome });
  }
  if (run.status === "failed" && opens.includes(outcome)) wrong("a run failed at an open gate", { outcome });
}

/**
 * @param {readonly LoggedEvent[]} log
 * @param {RunRecord} record
 * @param {Wrong} wrong
 */
function checkAcknowledged(log, { answers, events }, wrong) {
  for (const answer of answers) {
    const { interruptId, voter, action, resolved, outcome } = answer;
    const own = log.filter(({ payload }) => payload?.interruptId === interruptId);
    const voted = own.some(
      ({ type, payload }) => type === "assay.vote.recorded" && payload.voter === voter && payload.action === action,
    );
    if (!voted) wrong("an acknowledged vote is gone", { answer });
    const end = own.find(({ type }) => type === "interrupt.resolved");
    if (resolved && end?.payload.outcome !== outcome) wrong("an acknowledged decision is gone", { answer });
  }
  if (events.length === 0) return;
  const taken = log.find(({ type }) => type === "interrupt.resolved")?.payload.resumeValue?.eventId;
  const ids = new Set(events.map(({ eventId }) => eventId));
  if (!ids.has(taken)) wrong("an acknowledged event is gone", { events, taken });
  // Held ones may outnumber the runs that wait; one that was delivered was delivered to this run.
  if (new Set(events.filter(({ held }) => !held).map(({ eventId }) => eventId)).size > 1) {
    wrong("two events were delivered to one wait", { events });
  }
}
