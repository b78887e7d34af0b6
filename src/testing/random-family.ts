import { expect } from "vitest";
import { familyWrites, withFamily } from "../engine/families/family.ts";
import { resolveInterrupt } from "../engine/gates/decide/resolve-interrupt.ts";
import { type Host, idSource } from "../engine/host.ts";
import { NODE_TYPES } from "../engine/nodes/all.ts";
import { cancelRun } from "../engine/runs/decide/end-run.ts";
import { pauseRun, resumeRun } from "../engine/runs/decide/pause-run.ts";
import { startRun } from "../engine/runs/decide/start-run.ts";
import { stamp } from "../engine/runs/stamp.ts";
import type { NodeOutcome } from "../engine/worker/node-type.ts";
import { takeTurn } from "../engine/worker/turn.ts";
import { makePlan, type Plan } from "../engine/workflows/decide/plan.ts";
import { AppError } from "../protocol/errors.ts";
import type { EventDraft, RunEvent } from "../protocol/events.ts";
import { wakeAtMs } from "../protocol/runs/due-times.ts";
import { type OrchestratorDecision, SUPERVISOR } from "../protocol/runs/orchestrator.ts";
import { openInterrupts, type Run } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import type { RunWrite } from "../store/port/store.ts";
import { scriptedEffect } from "./engine.ts";
import { stored } from "./forks.ts";
import { ANA, BEN, CHI, somebody } from "./judges.ts";
import { RandomLog } from "./random-log.ts";
import { pick, type Random, randomWorkflow, SECRET } from "./random-workflow.ts";
import { boundTo } from "./simulate.ts";

const EFFECT = scriptedEffect("test.effect");
const STRANGER = somebody("sam", { roles: [] });

/** A run of a random workflow and all that it dispatches, without a store: every change is the only one at its time. */
export class RandomFamily {
  readonly logs = new Map<string, RandomLog>();
  readonly root: string;
  readonly #random: Random;
  readonly #plans: ReadonlyMap<string, Plan>;
  readonly #host: Host;
  #nowMs = Date.parse("2026-01-01T00:00:00.000Z");

  constructor(random: Random) {
    this.#random = random;
    const made = [
      makePlan("hash-0", randomWorkflow(random, "w0", ["w1", "w2", "nowhere"])),
      makePlan("hash-1", randomWorkflow(random, "w1", ["w2"])),
      makePlan("hash-2", randomWorkflow(random, "w2")),
    ];
    this.#plans = new Map(made.map((plan) => [plan.definition.id, plan]));
    const nowMs = () => this.#nowMs;
    this.#host = {
      nodeTypes: new Map([...NODE_TYPES, [EFFECT.typeId, EFFECT]]),
      runtimeCapabilities: new Set(),
      limits: { maxNodeExecutions: 30 },
      gates: { eventRetentionMs: 1000 },
      store: {
        readRun: async (_: unknown, runId: string) => this.logs.get(runId)?.run,
        runOutlines: async (_: string, runIds: readonly string[]) =>
          runIds.flatMap((runId) => {
            const run = this.logs.get(runId)?.run;
            return run === undefined ? [] : [{ runId, status: run.status, stateBytes: 1 }];
          }),
        logBytes: async () => 0,
        readEvents: async (runId: string, from: number, limit: number) =>
          (this.logs.get(runId)?.events ?? []).slice(from, from + limit).map(stored),
      },
      plans: { byHash: async (hash: string) => made.find((plan) => plan.hash === hash) },
      nowMs,
      newId: idSource(nowMs),
    } as unknown as Host;
    const owner = { tenant: "t1", principal: "p1" };
    const request = { metadata: { note: `the ${SECRET}`, [SECRET]: 1 }, tags: [SECRET] };
    const plan = made[0] as Plan;
    const draft = startRun(plan, { request, owner, limits: { maxNodeExecutions: 60 } });
    this.root = "run-1";
    const { run, events } = stamp(undefined, [draft], this.#stamping(this.root));
    this.#write({ runId: this.root, expectedVersion: 0, run, events });
  }

  /** As long as nobody moves the clock, everything these engines do happens now. */
  get host(): Host {
    return this.#host;
  }

  get runs(): Run[] {
    return [...this.logs.values()].map(({ run }) => run);
  }

  get ended(): boolean {
    return this.runs.every(({ status }) => isTerminal(status));
  }

  /** Something happens to one of the runs. */
  async disturb(): Promise<void> {
    const by = "somebody";
    const log = pick(this.#random, [...this.logs.values()]);
    const { run } = log;
    const drainPolicy = pick(this.#random, ["immediate", "drain-current-node"] as const);
    const deeds: (() => unknown)[] = [
      () => this.#turn(log, []),
      () => this.#turn(log, []),
      () => this.#finishOne(log),
      () => this.#finishOne(log),
      () => log.executing.clear(),
      () => {
        this.#nowMs += Math.floor(this.#random() * 3000);
      },
      () => this.#answer(run),
      () => this.#command(run, () => pauseRun(run, { by, drainPolicy })),
      () => this.#command(run, () => resumeRun(run, { by })),
      () => this.#random() < 0.1 && this.#command(run, () => cancelRun(run, { by, reason: `not ${SECRET}` })),
    ];
    await pick(this.#random, deeds)();
  }

  /** What the hosts would do by themselves, and somebody who resumes what is paused and answers what is asked. */
  async onward(): Promise<void> {
    for (const log of [...this.logs.values()].filter(({ run }) => !isTerminal(run.status))) {
      const { run } = log;
      if (run.status === "paused") return this.#command(run, () => resumeRun(run, { by: "somebody" }));
      if (log.executing.size > 0) return this.#finishOne(log);
      if (openInterrupts(run).length > 0 && this.#random() < 0.8) return this.#answer(run);
      if (wakeAtMs(run) !== undefined) return this.#turnWhenDue(log);
      if (openInterrupts(run).length > 0) return this.#answer(run);
    }
    const stuck = this.runs.filter(({ status }) => !isTerminal(status));
    throw new Error(`nothing will ever happen to ${JSON.stringify(stuck.map(({ status, nodes }) => [status, nodes]))}`);
  }

  async #turnWhenDue(log: RandomLog): Promise<void> {
    this.#nowMs = Math.max(this.#nowMs, wakeAtMs(log.run) ?? 0);
    const before = log.run.version;
    await this.#turn(log, []);
    if (log.run.version === before) throw new Error("it is due and nothing happens");
  }

  async #finishOne(log: RandomLog): Promise<void> {
    const [nodeId] = pick(this.#random, [...log.executing, ["", 0] as const]);
    const attempt = log.executing.get(nodeId);
    if (attempt === undefined) return;
    log.executing.delete(nodeId);
    const outcome = this.#outcomeOf(log, nodeId);
    await this.#turn(log, [{ nodeId, attempt, outcome, pins: [] }]);
  }

  /** A supervisor decides something, mostly; other nodes come to anything. */
  #outcomeOf({ plan }: RandomLog, nodeId: string): NodeOutcome {
    const isBoss = plan.graph.node.get(nodeId)?.typeId === SUPERVISOR;
    if (!isBoss || this.#random() < 0.1) return pick(this.#random, OUTCOMES);
    const decision = pick(this.#random, DECISIONS);
    const payload = { agentId: "test.boss", decision };
    const events: EventDraft[] = [{ type: "runOrchestrator.decided", nodeId, payload }];
    return { type: "completed", outputs: { kind: decision.kind, decision }, events };
  }

  async #turn(log: RandomLog, finished: Parameters<typeof takeTurn>[3]): Promise<void> {
    const { run: before, plan, executing } = log;
    if (isTerminal(before.status)) return;
    const turn = takeTurn(this.#host, plan, before, finished, executing, this.#plans);
    const { runId, version: expectedVersion } = before;
    const { run, events } = turn;
    await this.#commit(before, { runId, expectedVersion, run, events }, turn.children);
    for (const { node, attempt } of turn.launches) executing.set(node.id, attempt);
    log.dropOverridden();
  }

  async #answer(run: Run): Promise<void> {
    const open = openInterrupts(run);
    if (open.length === 0) return;
    const { interruptId } = pick(this.#random, open);
    const answerer = pick(this.#random, [ANA, BEN, CHI, STRANGER]);
    const of = { interruptId };
    const command = { of, value: pick(this.#random, ANSWERS), answerer, bound: boundTo(run, of) };
    await this.#command(run, () => resolveInterrupt(run, { ...command, nowMs: this.#nowMs }).events);
  }

  async #command(before: Run, decide: () => readonly EventDraft[]): Promise<void> {
    try {
      const drafts = decide();
      if (drafts.length === 0) return;
      const { runId, version: expectedVersion } = before;
      const { run, events } = stamp(before, drafts, this.#stamping(runId));
      await this.#commit(before, { runId, expectedVersion, run, events });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }

  async #commit(before: Run, write: RunWrite, children: readonly RunWrite[] = []): Promise<void> {
    if (write.events.length === 0) return;
    const family = await withFamily(this.#host, (reads) =>
      familyWrites(this.#host, reads, before, write.run, children),
    );
    expect(new Set([write, ...family].map(({ runId }) => runId)).size).toBe(family.length + 1);
    for (const one of [write, ...family]) this.#write(one);
    for (const run of this.runs) this.#checkChildren(run);
  }

  #write({ runId, expectedVersion, run, events }: RunWrite): void {
    const log = this.logs.get(runId) ?? new RandomLog(this.#plans.get(run.workflowId) as Plan);
    expect(log.events.length).toBe(expectedVersion);
    this.logs.set(runId, log);
    log.append(run, events as RunEvent[]);
  }

  /** Nobody waits for a run that has ended, and none outlives a parent that it depends on. */
  #checkChildren({ status, children }: Run): void {
    for (const [runId, link] of Object.entries(children)) {
      const child = this.logs.get(runId)?.run as Run;
      const awaited = link.waits && !isTerminal(status) && status !== "cancelling";
      if (awaited) expect(isTerminal(link.status)).toBe(isTerminal(child.status));
      const cut = status === "failed" || status === "cancelled";
      if (cut && link.propagates) expect(isTerminal(child.status) || child.status === "cancelling").toBe(true);
    }
  }

  #stamping(runId: string) {
    return { runId, nowMs: this.#nowMs, newId: this.#host.newId };
  }
}

const worker = (...nextWorkerIds: string[]): OrchestratorDecision => ({ kind: "next-worker", nextWorkerIds });

const DECISIONS: readonly OrchestratorDecision[] = [
  worker("w2"),
  worker("w1"),
  worker("w2", "w2"),
  worker("w1", "w2", "w1"),
  worker("w2", "nowhere"),
  { kind: "next-worker", nextWorkerIds: ["w2"], confidence: 0.2 },
  { kind: "ask-user", prompt: `what about the ${SECRET}?` },
  { kind: "terminate", reason: `enough ${SECRET}`, confidence: 0.4 },
  { kind: "terminate" },
];

const OUTCOMES: readonly NodeOutcome[] = [
  { type: "completed", outputs: { answer: `the ${SECRET} is out` } },
  { type: "completed", variables: { count: 4, password: `new ${SECRET}` } },
  { type: "failed", error: { code: "down", message: `${SECRET} refused`, retryable: true } },
  { type: "failed", error: { code: "broken", message: "no" } },
  { type: "sleep", forMs: 700 },
];

const ANSWERS: readonly unknown[] = [
  { action: "accept", feedback: `good ${SECRET}` },
  { action: "accept" },
  { action: "reject", feedback: `bad ${SECRET}` },
  { action: "refine", refineFeedback: { scope: "whole", text: SECRET } },
  { action: "ask", question: `which ${SECRET}?` },
  { decision: "granted" },
  { decision: "rejected", reason: `not ${SECRET}` },
  { answers: { q1: `the ${SECRET}` } },
  { answers: { answer: `not the ${SECRET}` } },
  { answers: { proceed: "yes" } },
  { answers: { proceed: "no" } },
  42,
];
