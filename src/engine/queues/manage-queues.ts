import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { type Caller, visibilityOf } from "../../protocol/identity/identity.ts";
import type {
  CreateQueueRequest,
  QueueListQuery,
  QueuePage,
  QueueRules,
  QueueView,
  UpdateQueueRequest,
} from "../../protocol/queues/api.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import { DEFAULT_LIMIT, pageOf, requireCursor } from "../shared/page.ts";
import { unknownWorkflow } from "../workflows/plans.ts";
import { changedRules, invalid, newRules } from "./decide/rules.ts";
import { fillQueue } from "./fill-queue.ts";
import { bodyOf, nextRecord, type Queue, type QueueBody, queueOf, visibleQueue } from "./queue-records.ts";
import { queueInfo, queueView } from "./views.ts";

export async function createQueue(
  host: Host,
  caller: Caller,
  request: CreateQueueRequest,
  record: Recorder<QueueView>,
): Promise<QueueView> {
  const rules = cleaned(host, newRules(request));
  await checkWorkflow(host, caller, rules.query);
  const { principal } = caller;
  const body: QueueBody = { createdBy: principal, state: "open", rulesRevision: 1, rules, cursor: {} };
  const atMs = host.nowMs();
  const queue = queueOf({
    queueId: host.newId("que"),
    ...visibilityOf(caller),
    name: rules.name,
    revision: 1,
    createdAtMs: atMs,
    blind: rules.blind,
    body: JSON.stringify(body),
  });
  const view = queueView(queue, { counts: {}, reviewers: [], filling: rules.query !== undefined });
  if (!(await write(host, caller, queue, "queue.create", record(view)))) {
    throw new AppError("queue_conflict", { id: queue.record.queueId });
  }
  return view;
}

const ATTEMPTS = 20;

/** Changes the rules of a queue, closes or reopens it. Existing items stay as they are. A new query starts from its beginning. */
export async function updateQueue(
  host: Host,
  caller: Caller,
  queueId: string,
  { revision, state, ...changes }: UpdateQueueRequest,
  record: Recorder<QueueView>,
): Promise<QueueView> {
  for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
    const before = await visibleQueue(host, caller, queueId);
    const { rulesRevision } = before;
    if (rulesRevision !== revision) throw new AppError("queue_changed", { queueId, revision: rulesRevision });
    const rules = cleaned(host, changedRules(before.rules, changes));
    if (changes.query !== undefined) await checkWorkflow(host, caller, rules.query);
    const body: QueueBody = {
      ...bodyOf(before),
      rules,
      state: state ?? before.state,
      rulesRevision: rulesRevision + 1,
      cursor: changes.query === undefined ? before.cursor : {},
      ...(before.rules.blind && !rules.blind ? { blindUntilMs: host.nowMs() } : {}),
    };
    const queue = queueOf(nextRecord(before, body));
    const view = await viewOf(host, queue, rules.query !== undefined && body.state === "open");
    if (await write(host, caller, queue, "queue.update", record(view))) return view;
  }
  throw new AppError("queue_conflict", { id: queueId });
}

/** Refuses a query for a workflow that is neither registered nor has runs: the queue would stay empty. */
async function checkWorkflow(host: Host, caller: Caller, query: QueueRules["query"]): Promise<void> {
  const workflowId = query?.workflowId;
  if (workflowId === undefined || (await host.plans.current(caller.tenant, workflowId))) return;
  const [run] = await host.store.listRuns(caller, { workflowId, limit: 1 });
  if (run === undefined) throw await unknownWorkflow(host, caller, workflowId, "query.workflowId");
}

/** False when the queue was filled in between. */
async function write(
  host: Host,
  caller: Caller,
  { record, state }: Queue,
  action: string,
  outcome: ReturnType<Recorder<QueueView>>,
): Promise<boolean> {
  const { queueId, tenant, name } = record;
  const committed = await host.store.commit({
    tenant,
    queues: [{ type: "queue", queue: record }],
    audit: [auditDraft(caller, host.nowMs(), queueId, { action, details: { name, state } })],
    ...defined({ idempotency: outcome }),
  });
  if (committed.ok) return true;
  const { refusal } = committed;
  if (refusal.type !== "queue") throw refused(refusal);
  if (refusal.id !== queueId) throw new AppError("queue_exists", { name });
  return false;
}

/** Texts that are compared exactly (labels, principals, ids) are refused where they look like secrets: scrubbed, they would not match any more. */
function cleaned({ scrubber: { scrubText } }: Host, rules: QueueRules): QueueRules {
  const { judgment, assign, adjudicators, query, description } = rules;
  const lookedUp = {
    "judgment.labels": judgment.kind === "label" ? judgment.labels : [],
    assign: Object.values(assign ?? {}).flat(),
    adjudicators: Object.values(adjudicators ?? {}).flat(),
    query: Object.values(query ?? {}),
  };
  for (const [field, texts] of Object.entries(lookedUp)) {
    if (texts.every((text) => typeof text !== "string" || scrubText(text) === text)) continue;
    throw invalid(field, `${field} holds something that looks like a secret`);
  }
  const name = scrubText(rules.name);
  return { ...rules, name, ...(description === undefined ? {} : { description: scrubText(description) }) };
}

export async function listQueues(
  { store }: Host,
  caller: Caller,
  { limit = DEFAULT_LIMIT, cursor }: QueueListQuery,
): Promise<QueuePage> {
  requireCursor(cursor, "que", { field: "cursor" });
  const found = await store.listQueues(caller, defined({ limit: limit + 1, before: cursor }));
  const { page, next } = pageOf(found, limit, ({ queueId }) => queueId);
  return { queues: page.map((record) => queueInfo(queueOf(record))), ...next };
}

/** Fills the queue and returns it. */
export async function readQueue(host: Host, caller: Caller, queueId: string): Promise<QueueView> {
  const { queue, more } = await fillQueue(host, await visibleQueue(host, caller, queueId));
  return viewOf(host, queue, more);
}

async function viewOf({ store }: Host, queue: Queue, filling: boolean): Promise<QueueView> {
  const { queueId } = queue.record;
  const [counts, reviewers] = await Promise.all([store.countQueueItems(queueId), store.queueProgress(queueId)]);
  return queueView(queue, { counts, reviewers, filling });
}
