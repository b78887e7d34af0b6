// @ts-check

/**
 * What the clients of the crash test were told, kept outside of the servers under test. Everything in here was
 * acknowledged; whatever the servers say after a crash has to agree with it.
 *
 * @typedef {import("./workflows.js").WorkflowName} WorkflowName
 *
 * @typedef {object} Attempt one intention to create a run, however often it was sent
 * @property {string} tag on the run, and its idempotency key when it has one
 * @property {string} tenant
 * @property {WorkflowName} workflow
 * @property {boolean} keyed
 * @property {string} [runId] as acknowledged
 *
 * @typedef {object} GateAnswer an acknowledged answer at a gate
 * @property {string} interruptId
 * @property {string} voter
 * @property {string} action
 * @property {boolean} resolved
 * @property {string} [outcome]
 *
 * @typedef {{ eventId: string, held: boolean }} TakenEvent
 *
 * @typedef {object} RunRecord an acknowledged run
 * @property {string} runId
 * @property {string} tenant
 * @property {WorkflowName} workflow
 * @property {string[]} seen event ids by sequence, as streams and polls gave them
 * @property {number} pauses acknowledged, each with a key of its own
 * @property {number} resumes
 * @property {boolean} cancelAsked
 * @property {boolean} cancelled acknowledged as cancelled or cancelling
 * @property {boolean} cascadeAsked the run that dispatched it was to be cancelled
 * @property {GateAnswer[]} answers
 * @property {TakenEvent[]} events external events that were taken for it
 * @property {string} [parentRunId]
 *
 * @typedef {{ what: string, details: object }} Violation
 */

/** More would only repeat themselves. */
const violationsKeptMax = 200;

export class Journal {
  /** @type {Map<string, Attempt>} */
  attempts = new Map();
  /** @type {Map<string, RunRecord>} */
  runs = new Map();
  /** The last definition acknowledged under an id. @type {Map<string, { tenant: string, definition: any }>} */
  workflows = new Map();
  /** @type {Map<string, import("./judgment-deeds.js").Judgment>} */
  judgments = new Map();
  /** By the id of the replay. @type {Map<string, { sourceRunId: string, tenant: string }>} */
  replays = new Map();
  /** @type {Violation[]} */
  violations = [];
  /** What was said to each external event the first time. @type {Map<string, string>} */
  #said = new Map();
  /** Answered writes by kind. @type {Record<string, number>} */
  acknowledged = {};
  counts = {
    /** Requests that got no answer, because a server died under them. */
    unanswered: 0,
    /** Answers 503, with a Retry-After. */
    unavailable: 0,
    /** Answers that were a repetition of the first one under their key. */
    replayed: 0,
    /** Events that streams and polls delivered. */
    eventsSeen: 0,
    /** Times a stream or poll was taken up again. */
    reconnects: 0,
    violations: 0,
  };

  /**
   * @param {string} what
   * @param {object} details
   */
  violation(what, details) {
    this.counts.violations += 1;
    if (this.violations.length < violationsKeptMax) this.violations.push({ what, details });
  }

  /** @param {string} kind */
  acknowledge(kind) {
    this.acknowledged[kind] = (this.acknowledged[kind] ?? 0) + 1;
  }

  /** @returns {number} */
  get writes() {
    return Object.values(this.acknowledged).reduce((sum, n) => sum + n, 0);
  }

  /**
   * @param {Attempt} attempt
   * @param {string} runId
   * @returns {RunRecord}
   */
  created(attempt, runId) {
    if (attempt.runId !== undefined && attempt.runId !== runId) {
      this.violation("one idempotency key gave two runs", { tag: attempt.tag, runIds: [attempt.runId, runId] });
    }
    attempt.runId = runId;
    const { tenant, workflow } = attempt;
    const record = this.runs.get(runId) ?? newRecord(runId, tenant, workflow);
    this.runs.set(runId, record);
    return record;
  }

  /**
   * A run that another one dispatched; nobody else asked for it.
   * @param {RunRecord} parent
   * @param {string} runId
   * @returns {RunRecord}
   */
  adopted({ runId: parentRunId, tenant }, runId) {
    const record = this.runs.get(runId) ?? { ...newRecord(runId, tenant, "child"), parentRunId };
    this.runs.set(runId, record);
    return record;
  }

  /**
   * However often an event is sent, it is answered as it was the first time.
   * @param {string} event
   * @param {string} text
   */
  answered(event, text) {
    const first = this.#said.get(event) ?? text;
    this.#said.set(event, first);
    if (first !== text) this.violation("a repeated event got another answer", { event, first, text });
  }

  /**
   * An event that was delivered. `next` is the sequence its reader was waiting for.
   * @param {RunRecord} record
   * @param {{ eventId: string, sequence: number, runId: string }} event
   * @param {number} next
   * @param {string} by
   */
  saw(record, event, next, by) {
    this.counts.eventsSeen += 1;
    const { eventId, sequence } = event;
    if (sequence !== next || event.runId !== record.runId) {
      this.violation(`a ${by} skipped or repeated an event`, { runId: record.runId, expected: next, got: event });
    }
    const before = record.seen[sequence];
    if (before !== undefined && before !== eventId) {
      this.violation("an event changed after it was seen", { runId: record.runId, sequence, before, now: eventId });
    }
    record.seen[sequence] = eventId;
  }
}

/**
 * @param {string} runId
 * @param {string} tenant
 * @param {WorkflowName} workflow
 * @returns {RunRecord}
 */
function newRecord(runId, tenant, workflow) {
  return {
    runId,
    tenant,
    workflow,
    seen: [],
    pauses: 0,
    resumes: 0,
    cancelAsked: false,
    cancelled: false,
    cascadeAsked: false,
    answers: [],
    events: [],
  };
}
