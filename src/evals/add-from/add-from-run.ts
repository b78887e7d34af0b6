import type { Agents } from "../../agents/agents.ts";
import type { MemoryAdapter } from "../../agents/memory/memory-adapter.ts";
import { auditDraft, type Recorder, refused, visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { blindness } from "../../engine/judgments/list-annotations.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID } from "../../protocol/evals/api.ts";
import type { EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { AddedTask, AddFromRequest, TaskLink } from "../../protocol/evals/suite-api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import { evalPlanOf } from "../run/eval-plan.ts";
import { loadSuite, requireSuite, SENT_SUITE_LIMITS, type UsableSuite } from "../suite/load-suite.ts";
import { suiteWritesUnlessThere } from "../suite/suite-store.ts";
import { agentCase } from "./agent-case.ts";
import { expectedOf, requireFit } from "./expected-of.ts";
import { type Correction, findCorrection } from "./find-correction.ts";
import { type Grown, grownText, growSuite, newSuite, type TaskDraft } from "./grow-suite.ts";
import { type Proven, proveTask } from "./prove-task.ts";
import { evalCase, type RecordedCase, tapeCase } from "./recorded-case.ts";
import { linkWrites, taskHash } from "./task-links.ts";
import { highestVersion, type TargetSuite, targetSuiteFor } from "./which-suite.ts";

export interface AddFrom {
  readonly caller: Caller;
  readonly request: AddFromRequest;
  /** Installed agents, to check whether they could pass the task. */
  readonly agents?: Pick<Agents, "versionsOf"> | undefined;
  /** Memories of agents; absent where they are not kept. */
  readonly memory?: Pick<MemoryAdapter, "list"> | undefined;
  /** Throws where the caller may not read the bodies of an evaluation: the proof quotes them. */
  mayReadBodies(): Promise<void>;
  readonly record: Recorder<AddedTask>;
}

const ATTEMPTS = 5;

/**
 * Makes a task of a run that a person corrected, shows that it fails on what was answered and passes on the correction, and puts it into the
 * next version of a suite; the version before stays as it is. Throws `validation_error` with what was found where that cannot be shown.
 */
export async function addFromRun(host: Host, added: AddFrom): Promise<AddedTask> {
  const { caller, request, agents, memory, record } = added;
  const run = await visibleRun(host, caller, request.runId);
  // Checked by the name of the workflow: the plan of a run that is too large is not loaded.
  if (run.workflowId === EVAL_WORKFLOW_ID) await added.mayReadBodies();
  const correction = await findCorrection(host.store, {
    tenant: caller.tenant,
    runId: run.runId,
    annotationId: request.annotationId,
    ...blindness(caller),
  });
  const recorded = await caseOf(host, memory, run, correction);
  const expectation = expectedOf(correction.text, recorded.outputs);
  const { match, answer } = expectation;
  await requireFit(agents, caller, recorded, expectation);
  const task = { ...host.scrubber.scrubValue(taskPart(recorded)), expected: { kind: "golden" as const, match } };
  const proof = await proveTask(host, { taskId: "proof", ...task }, { outputs: recorded.outputs, answer });
  const draft: TaskDraft = { ...task, name: recorded.name, answer };
  for (let attempt = 1; ; attempt++) {
    const target = await targetSuiteFor(host, caller, run, recorded, request);
    const grown = await grow(host, caller, target, draft, recorded, request.taskId);
    const made = grown === "moved" ? undefined : { run, correction, recorded, proof, target, grown };
    const done = made === undefined ? "moved" : await keep(host, caller, made, request.check === true, record);
    if (done !== "moved") return done;
    const key = target.type === "new" ? target.suiteId : target.suite.suiteId;
    if (attempt === ATTEMPTS) throw new AppError("document_conflict", { what: "suite", key });
  }
}

interface Made {
  readonly run: Run;
  readonly correction: Correction;
  readonly recorded: RecordedCase;
  readonly proof: Proven;
  readonly target: TargetSuite;
  readonly grown: Grown;
}

async function caseOf(host: Host, memory: AddFrom["memory"], run: Run, correction: Correction): Promise<RecordedCase> {
  if (isRecorded(run)) return tapeCase(host, run, correction);
  const plan = evalPlanOf(run);
  if (plan !== undefined) return evalCase(host, run, plan, correction);
  if (!isTerminal(run.status)) {
    const problem = "a task is made of what has ended";
    throw new AppError("run_state_conflict", { runId: run.runId, runStatus: run.status, problem });
  }
  return agentCase(host, memory, run, correction);
}

function taskPart({ input, toolResponses, memorySeed }: RecordedCase): Pick<EvalTask, "input" | "fixtures"> {
  const fixtures = {
    ...(toolResponses.length === 0 ? {} : { toolResponses: [...toolResponses] }),
    ...(memorySeed.length === 0 ? {} : { memorySeed: memorySeed.map((seed) => ({ ...seed })) }),
  };
  return { input, ...(Object.keys(fixtures).length === 0 ? {} : { fixtures }) };
}
/** "moved" when the suite has a higher version by now than the one that was read: its tasks must not be left out of the next. */
async function grow(
  host: Host,
  { tenant }: Caller,
  target: TargetSuite,
  draft: TaskDraft,
  { agentId }: RecordedCase,
  taskId: string | undefined,
): Promise<Grown | "moved"> {
  if (target.type === "new") return newSuite(target.suiteId, draft, { taskId, agentId });
  const { suite } = target;
  const highest = await highestVersion(host, tenant, suite.suiteId);
  if (target.type === "kept" && target.highest && highest !== suite.version) return "moved";
  const grown = growSuite(suite, draft, { taskId, highest });
  const { targetAgentId } = suite;
  if (targetAgentId === undefined || agentId === undefined || targetAgentId === agentId) return grown;
  const note = `The suite was written for ${targetAgentId}, and the run is of ${agentId}.`;
  return { ...grown, notes: [...grown.notes, note] };
}

async function keep(
  host: Host,
  caller: Caller,
  { run, correction, recorded, proof, target, grown }: Made,
  checkOnly: boolean,
  record: Recorder<AddedTask>,
): Promise<AddedTask | "moved"> {
  const { suite, task, notes } = grown;
  const text = target.type === "new" ? `${JSON.stringify(suite, null, 2)}\n` : grownText(target.text, suite, [task]);
  const loaded = requireSuite(
    loadSuite(Buffer.from(text), { scrubber: host.scrubber, limits: SENT_SUITE_LIMITS }),
    "the suite with the new task",
  );
  const atMs = host.nowMs();
  const link = linkOf(caller, run, correction, recorded, grown, atMs);
  const kept = target.type === "kept" && !checkOnly;
  const added: AddedTask = {
    task,
    proof: { recorded: proof.recorded, correction: proof.correction },
    suiteId: suite.suiteId,
    version: suite.version,
    sha256: loaded.sha256,
    taskCount: suite.tasks.length,
    kept,
    text,
    link: checkOnly ? null : link,
    notes: [...recorded.notes, ...notes],
  };
  if (checkOnly) return added;
  const documents = kept ? await suiteWrites(host, caller, loaded, atMs) : [];
  if (documents === "taken") return "moved";
  const outcome = record(added);
  const committed = await host.store.commit({
    tenant: caller.tenant,
    documents: [...documents, ...(await linkWrites(host.store, run.owner, link, atMs))],
    audit: [
      auditDraft(caller, atMs, `${suite.suiteId}@${suite.version}`, {
        action: "suite.task_added",
        details: {
          taskId: task.taskId,
          runId: run.runId,
          annotationId: correction.annotationId,
          sha256: loaded.sha256,
          kept,
        },
      }),
    ],
    ...defined({ idempotency: outcome }),
  });
  if (committed.ok) return added;
  if (committed.refusal.type === "document") return "moved";
  throw refused(committed.refusal);
}

/** A version taken by a concurrent request makes this one read the suite again and use the next version. */
async function suiteWrites(
  { store }: Host,
  { tenant, principal }: Caller,
  loaded: UsableSuite,
  atMs: number,
): Promise<DocumentWrite[] | "taken"> {
  try {
    return await suiteWritesUnlessThere(store, loaded, { tenant, principal }, atMs);
  } catch (error) {
    if (error instanceof AppError && error.code === "suite_conflict") return "taken";
    throw error;
  }
}

function linkOf(
  caller: Caller,
  { runId }: Run,
  { annotationId, target }: Correction,
  { nodeId }: RecordedCase,
  { suite, task }: Grown,
  atMs: number,
): TaskLink {
  return {
    suiteId: suite.suiteId,
    version: suite.version,
    taskId: task.taskId,
    taskSha256: taskHash(task),
    runId,
    annotationId,
    ...defined({ nodeId, eventId: target.eventId }),
    by: caller.principal,
    at: new Date(atMs).toISOString(),
  };
}
