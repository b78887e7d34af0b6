import { findInterrupt, resolveInterrupt } from "../engine/gates/decide/resolve-interrupt.ts";
import type { AuditNote, Binding } from "../engine/gates/decide/vote.ts";
import { type Host, idSource } from "../engine/host.ts";
import { NODE_TYPES } from "../engine/nodes/all.ts";
import { startRun } from "../engine/runs/decide/start-run.ts";
import { stamp } from "../engine/runs/stamp.ts";
import type { NodeTypes } from "../engine/worker/node-type.ts";
import { type Launch, takeTurn } from "../engine/worker/turn.ts";
import { makePlan, type Plan } from "../engine/workflows/decide/plan.ts";
import { definitionHash } from "../engine/workflows/plans.ts";
import { shownDigest } from "../formats/gates/gate-digest.ts";
import { EVENTS, type EventDraft, type RunEvent } from "../protocol/events.ts";
import { revisionOf } from "../protocol/gates/interrupt.ts";
import type { Evidence } from "../protocol/promotion/evidence.ts";
import type { CreateRunRequest } from "../protocol/runs/api.ts";
import { wakeAtMs } from "../protocol/runs/due-times.ts";
import { fold, type Run } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import { matches, problemsOf } from "../protocol/schema.ts";
import type { WorkflowDefinition } from "../protocol/workflows/workflow.ts";
import { ANA, KNOWN_VOTER, type Somebody } from "./judges.ts";

export interface Simulation {
  readonly plan: Plan;
  readonly run: Run;
  readonly events: readonly RunEvent[];
  /** Event types in order, node events as `node.completed:id`. */
  readonly story: readonly string[];
  /** Takes turns, moving the clock to each due time, until the run ends or waits for somebody. */
  go(): Simulation;
  /** One turn at the present time. */
  turn(): Simulation;
  /** A command decided at the present time. */
  decide(command: (run: Run, plan: Plan) => readonly EventDraft[]): Simulation;
  /** Answers the latest interrupt of a node. What a refusal leaves behind is kept before it is thrown. */
  resolve(nodeId: string, value: unknown, by?: Somebody, evidence?: Evidence, bound?: Binding): Simulation;
  /** What the answers have left for the audit chain. */
  readonly audit: readonly AuditNote[];
  advance(ms: number): Simulation;
}

const ACTED = { type: "completed", outputs: {} } as const;

/** A run without a store: the engine's pure core on a clock that the test moves. A node with effects completes in the turn after it began. */
export function simulate(
  definition: WorkflowDefinition,
  request: CreateRunRequest = {},
  options: {
    nodeTypes?: NodeTypes;
    maxNodeExecutions?: number;
    provided?: readonly string[];
    gateTimeoutMs?: number;
    /** A run that goes on, in place of one that begins. */
    from?: { readonly run: Run; readonly events: readonly RunEvent[] };
  } = {},
): Simulation {
  const plan = makePlan(definitionHash(definition), definition);
  let nowMs = Date.parse("2026-01-01T00:00:00.000Z");
  const host = {
    nodeTypes: options.nodeTypes ?? NODE_TYPES,
    runtimeCapabilities: new Set(options.provided ?? []),
    gates: {
      eventRetentionMs: 86_400_000,
      ...(options.gateTimeoutMs === undefined ? {} : { timeoutMs: options.gateTimeoutMs }),
    },
    nowMs: () => nowMs,
    newId: idSource(() => nowMs),
  } as unknown as Host;
  const limits = { maxNodeExecutions: options.maxNodeExecutions ?? 1000 };
  const runId = options.from?.run.runId ?? host.newId("run");
  const stamping = () => ({ runId, nowMs, newId: host.newId });
  const owner = { tenant: "t1", principal: "p1" };
  const first = options.from ?? stamp(undefined, [startRun(plan, { request, owner, limits })], stamping());
  const state = { run: first.run, events: [...first.events] };
  const audit: AuditNote[] = [];
  let launched: readonly Launch[] = [];
  const add = (run: Run, events: readonly RunEvent[]) => {
    for (const event of events) checkPayload(event);
    state.run = run;
    state.events.push(...events);
    // The state carried along must be what anyone gets by folding the log.
    expectSame(fold(state.events), run);
  };
  for (const event of state.events) checkPayload(event);

  const simulation: Simulation = {
    plan,
    get run() {
      return state.run;
    },
    get events() {
      return state.events;
    },
    get story() {
      return state.events.map(({ type, nodeId }) => (nodeId === undefined ? type : `${type}:${nodeId}`));
    },
    turn() {
      const finished = launched.map(({ node, attempt }) => ({ nodeId: node.id, attempt, outcome: ACTED, pins: [] }));
      const turn = takeTurn(host, plan, state.run, finished, new Map());
      launched = turn.launches;
      add(turn.run, turn.events);
      return simulation;
    },
    go() {
      for (let turns = 0; turns < 1000 && !isTerminal(state.run.status); turns++) {
        const due = launched.length > 0 ? nowMs : wakeAtMs(state.run);
        if (due === undefined || (state.run.status === "paused" && due > nowMs)) break;
        nowMs = Math.max(nowMs, due);
        simulation.turn();
      }
      return simulation;
    },
    decide(command) {
      const drafts = command(state.run, plan);
      if (drafts.length === 0) return simulation;
      const { run, events } = stamp(state.run, drafts, stamping());
      add(run, events);
      return simulation;
    },
    resolve(nodeId, value, { mayRelay, relay = KNOWN_VOTER, ...answerer } = ANA, evidence, bound) {
      const proven = evidence === undefined ? {} : { evidence };
      const answer = { of: { nodeId }, value, answerer, nowMs, ...proven, ...(mayRelay ? { relay } : {}) };
      const ruling = resolveInterrupt(state.run, { ...answer, bound: bound ?? boundTo(state.run, { nodeId }) });
      audit.push(...ruling.audit);
      simulation.decide(() => ruling.events);
      if (ruling.refusal !== undefined) throw ruling.refusal;
      return simulation;
    },
    audit,
    advance(ms) {
      nowMs += ms;
      return simulation;
    },
  };
  return simulation;
}

/** What a voter who has read an open interrupt sends with the vote. */
export function boundTo(run: Run, of: Parameters<typeof findInterrupt>[1]): Binding {
  const interrupt = findInterrupt(run, of);
  if (interrupt === undefined) return {};
  const { interruptId } = interrupt;
  return { interruptId, revision: revisionOf(interrupt), artifactDigest: shownDigest(interrupt) };
}

function checkPayload(event: RunEvent): void {
  const schema = EVENTS[event.type].payload;
  for (const payload of [event.payload, event.sealed ?? event.payload]) {
    if (!matches(schema, payload)) {
      const [first] = problemsOf(schema, payload);
      throw new Error(`${event.type}${first?.path ?? ""} ${first?.problem ?? "does not match"}`);
    }
  }
}

function expectSame(a: unknown, b: unknown): void {
  if (JSON.stringify(a) !== JSON.stringify(b)) throw new Error("the carried state is not the fold of the log");
}
