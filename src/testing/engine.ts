import { type InterruptTokens, tokenKeys } from "../engine/gates/interrupt-token.ts";
import { type Host, idSource } from "../engine/host.ts";
import { NODE_TYPES } from "../engine/nodes/all.ts";
import { systemResolve } from "../engine/outbound/guard.ts";
import { createRun } from "../engine/runs/create-run.ts";
import { withOutbox } from "../engine/webhooks/outbox.ts";
import type { EffectContext, EffectNodeType, NodeOutcome, NodeType } from "../engine/worker/node-type.ts";
import { startWorker, type Worker, type WorkerSettings } from "../engine/worker/worker.ts";
import { plansOf } from "../engine/workflows/plans.ts";
import { registerWorkflow } from "../engine/workflows/register-workflow.ts";
import { loadRuleSet } from "../formats/secrets/rule-set.ts";
import { scrubber } from "../formats/secrets/scrub.ts";
import type { RunEventDoc } from "../protocol/events.ts";
import type { Caller } from "../protocol/identity/identity.ts";
import type { Capability } from "../protocol/operation.ts";
import type { CreateRunRequest } from "../protocol/runs/api.ts";
import type { Run } from "../protocol/runs/run.ts";
import { Type } from "../protocol/schema.ts";
import type { WorkflowDefinition } from "../protocol/workflows/workflow.ts";
import type { Store } from "../store/port/store.ts";

export const ADA: Caller = {
  tenant: "t1",
  principal: "ada",
  kind: "user",
  keyId: "key-ada",
  roles: ["owner"],
  groups: [],
  keyScopes: ["*"],
};

/** What test hosts know to be secret, whatever it looks like. */
export const KNOWN_SECRET = "the horse of every test host";

const SCRUBBER = scrubber({ known: [KNOWN_SECRET], more: await loadRuleSet() });

/** The engine on a real store, with the real clock. */
export function engineOn(bare: Store, more: readonly NodeType[] = []): Host {
  const newId = idSource(Date.now);
  const capabilities = new Set<Capability>([
    "pauseResume",
    "auditLogIntegrity",
    "webhooks",
    "feedback",
    "replay",
    "diff",
  ]);
  const store = withOutbox(bare, { nowMs: Date.now, newId, capabilities });
  return {
    store,
    plans: plansOf(store),
    nodeTypes: new Map([...NODE_TYPES, ...more.map((type) => [type.typeId, type] as const)]),
    limits: { maxNodeExecutions: 1000 },
    capabilities,
    runtimeCapabilities: new Set(),
    idempotency: { retentionMs: 86_400_000, leaseMs: 10_000 },
    effects: { retentionMs: 86_400_000 },
    gates: { eventRetentionMs: 86_400_000 },
    tokens: tokensAt(Date.now),
    scrubber: SCRUBBER,
    bundles: { maxBytes: 8_388_608 },
    outbound: { allowPrivate: true, resolve: systemResolve, timeoutMs: 5000, userAgent: "assay/test" },
    nowMs: Date.now,
    newId,
  };
}

/** Tokens of a host whose clock this is; hosts of one test read each other's, as hosts on one database do. */
export function tokensAt(nowMs: () => number): InterruptTokens {
  return tokenKeys({ keys: [{ kid: "test", secret: "the-token-secret-of-every-test-host" }], nowMs });
}

let workers = 0;

export function workerOn(host: Host, settings: Partial<WorkerSettings> = {}): Worker {
  workers += 1;
  return startWorker(host, {
    workerId: `worker-${workers}`,
    leaseMs: 10_000,
    renewMs: 3000,
    sweepMs: 20,
    concurrency: 32,
    onError: (error) => console.error(error),
    ...settings,
  });
}

const UNRECORDED = () => undefined;

export async function register(host: Host, definition: WorkflowDefinition, caller = ADA): Promise<string> {
  const text = JSON.stringify(definition);
  await registerWorkflow(host, { caller, definition, text, record: UNRECORDED });
  return definition.id;
}

export async function begin(host: Host, request: CreateRunRequest, caller = ADA): Promise<string> {
  const { runId } = await createRun(host, { caller, request, dedup: false, record: UNRECORDED });
  return runId;
}

export async function logOf(store: Store, runId: string): Promise<RunEventDoc[]> {
  const rows = await store.readEvents(runId, 0, 10_000);
  return rows.map((row) => JSON.parse(row.body) as RunEventDoc);
}

/** Waits on the store's own notifications; the timeout only bounds a test that would otherwise hang. */
export async function until(store: Store, runId: string, holds: (run: Run) => boolean, tenant = "t1"): Promise<Run> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const run = await store.readRun({ tenant }, runId);
    if (run && holds(run)) return run;
    if (Date.now() > deadline) throw new Error(`run ${runId} stayed ${run?.status ?? "absent"}`);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, 50);
      const stop = store.onChange(done);
      function done() {
        clearTimeout(timer);
        stop();
        resolve();
      }
    });
  }
}

/** An effect node whose every call the test sees and answers. */
export function scriptedEffect(typeId: string): EffectNodeType & {
  readonly calls: { readonly context: EffectContext; finish(outcome: NodeOutcome): void }[];
  /** Resolves when the n-th call (from 1) has begun. */
  called(n: number): Promise<void>;
} {
  const calls: { context: EffectContext; finish(outcome: NodeOutcome): void }[] = [];
  let told: () => void = () => {};
  return {
    kind: "effect",
    typeId,
    summary: "Ends when the test says so.",
    config: Type.Object({}, { additionalProperties: true }),
    calls,
    execute: (context) =>
      new Promise((finish) => {
        calls.push({ context, finish });
        told();
      }),
    async called(n) {
      while (calls.length < n) await new Promise<void>((resolve) => (told = resolve));
    },
  };
}
