import { describe, expect, test } from "vitest";
import { AppError } from "../protocol/errors.ts";
import { EVENTS, endsRun, eventDoc, type RunEvent } from "../protocol/events.ts";
import { fold, type Run, wakeAtMs } from "../protocol/run.ts";
import { isTerminal } from "../protocol/run-status.ts";
import { matches, problemsOf } from "../protocol/schema.ts";
import { snapshotOf } from "../protocol/snapshot.ts";
import { scriptedEffect } from "../testing/engine.ts";
import { pick, type Random, randomFrom, randomWorkflow, SECRET } from "../testing/random-workflow.ts";
import { cancelRun } from "./decide/cancel-run.ts";
import { pauseRun } from "./decide/pause-run.ts";
import { makePlan, type Plan } from "./decide/plan.ts";
import { resumeRun } from "./decide/resume-run.ts";
import { startRun } from "./decide/start-run.ts";
import { type Host, idSource } from "./host.ts";
import type { NodeOutcome } from "./node-type.ts";
import { NODE_TYPES } from "./nodes/all.ts";
import { stamp } from "./stamp.ts";
import { takeTurn } from "./turn.ts";

/** More runs by hand: `ASSAY_TEST_RANDOM_RUNS=100000 npm test -- src/engine/random-runs.test.ts`. */
const RUNS = Number(process.env["ASSAY_TEST_RANDOM_RUNS"] ?? 300);
const FIRST = Number(process.env["ASSAY_TEST_RANDOM_SEED"] ?? 1);

describe("a run of any workflow, whatever is done to it on its way", () => {
  test(`comes to one end, and its log alone gives its state (${RUNS} of them)`, {
    timeout: RUNS * 100 + 20_000,
  }, () => {
    const ends = new Map<string, number>();
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
      try {
        const { status } = live(randomFrom(seed));
        ends.set(status, (ends.get(status) ?? 0) + 1);
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    // Otherwise the generator no longer makes what this test is for.
    if (RUNS >= 100) expect([...ends.keys()].sort()).toEqual(["cancelled", "completed", "failed"]);
  });
});

/** One life: random turns, crashes, waits and commands, then whatever it takes to reach the end. */
function live(random: Random): Run {
  const life = new Life(random);
  for (let step = Math.floor(random() * 25); step > 0 && !life.ended; step--) life.disturb();
  for (let step = 0; step < 500 && !life.ended; step++) life.onward();
  if (!life.ended) throw new Error(`it never ended: ${JSON.stringify(life.run.nodes)}`);
  expect(life.events.filter(({ type }) => endsRun(type))).toHaveLength(1);
  expect(endsRun(life.events.at(-1)?.type ?? "")).toBe(true);
  return life.run;
}

const EFFECT = scriptedEffect("test.effect");

class Life {
  readonly #random: Random;
  readonly #plan: Plan;
  readonly #host: Host;
  readonly #settled = new Map<string, string>();
  #nowMs = Date.parse("2026-01-01T00:00:00.000Z");
  /** The attempts of effect nodes that a worker is at. */
  #executing = new Map<string, number>();
  events: RunEvent[] = [];
  run: Run;

  constructor(random: Random) {
    this.#random = random;
    this.#plan = makePlan("hash", randomWorkflow(random));
    const nowMs = () => this.#nowMs;
    this.#host = {
      nodeTypes: new Map([...NODE_TYPES, [EFFECT.typeId, EFFECT]]),
      runtimeCapabilities: new Set(),
      nowMs,
      newId: idSource(nowMs),
    } as unknown as Host;
    const owner = { tenant: "t1", principal: "p1" };
    const request = { metadata: { note: `the ${SECRET}`, [SECRET]: 1 }, tags: [SECRET] };
    const draft = startRun(this.#plan, { request, owner, limits: { maxNodeExecutions: 60 } });
    const { run, events } = stamp(undefined, [draft], this.#stamping("run-1"));
    this.run = run;
    this.#add(run, events);
  }

  get ended(): boolean {
    return isTerminal(this.run.status);
  }

  disturb(): void {
    const by = "somebody";
    const deeds: (() => void)[] = [
      () => this.#turn([]),
      () => this.#turn([]),
      () => this.#finishOne(),
      () => this.#finishOne(),
      () => this.#executing.clear(),
      () => {
        this.#nowMs += Math.floor(this.#random() * 3000);
      },
      () => this.#command(() => pauseRun(this.run, { by, drainPolicy: pick(this.#random, POLICIES) })),
      () => this.#command(() => resumeRun(this.run, { by })),
      () => this.#random() < 0.2 && this.#command(() => cancelRun(this.run, { by, reason: `not ${SECRET}` })),
    ];
    pick(this.#random, deeds)();
  }

  /** What the hosts would do by themselves, and somebody who resumes what is paused. */
  onward(): void {
    if (this.run.status === "paused") this.#command(() => resumeRun(this.run, { by: "somebody" }));
    else if (this.#executing.size > 0) this.#finishOne();
    else this.#turnWhenDue();
  }

  #turnWhenDue(): void {
    const dueAtMs = wakeAtMs(this.run);
    if (dueAtMs === undefined) throw new Error(`nothing will ever happen to a run that is ${this.run.status}`);
    this.#nowMs = Math.max(this.#nowMs, dueAtMs);
    const before = this.run.version;
    this.#turn([]);
    if (this.run.version === before) throw new Error("it is due and nothing happens");
  }

  #finishOne(): void {
    const [nodeId] = pick(this.#random, [...this.#executing, ["", 0] as const]);
    const attempt = this.#executing.get(nodeId);
    if (attempt === undefined) return;
    this.#executing.delete(nodeId);
    this.#turn([{ nodeId, attempt, outcome: pick(this.#random, OUTCOMES), pins: [] }]);
  }

  #turn(finished: Parameters<typeof takeTurn>[3]): void {
    if (this.ended) return;
    const turn = takeTurn(this.#host, this.#plan, this.run, finished, this.#executing);
    this.#add(turn.run, turn.events);
    for (const { node, attempt } of turn.launches) this.#executing.set(node.id, attempt);
    for (const [nodeId, attempt] of this.#executing) {
      const state = this.run.nodes[nodeId];
      if (state?.status !== "executing" || state.attempt !== attempt) this.#executing.delete(nodeId);
    }
  }

  #command(decide: () => ReturnType<typeof cancelRun>): void {
    try {
      const drafts = decide();
      if (drafts.length === 0) return;
      const { run, events } = stamp(this.run, drafts, this.#stamping(this.run.runId));
      this.#add(run, events);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }

  #stamping(runId: string) {
    return { runId, nowMs: this.#nowMs, newId: this.#host.newId };
  }

  #add(run: Run, events: readonly RunEvent[]): void {
    for (const event of events) this.#check(event);
    this.events.push(...events);
    expect(this.events.map(({ sequence }) => sequence)).toEqual([...this.events.keys()]);
    this.run = run;
    // As another process would read it: the served text and the sealed one.
    const read = this.events.map((event) => ({
      ...JSON.parse(JSON.stringify(eventDoc(event))),
      ...(event.sealed === undefined ? {} : { sealed: JSON.parse(JSON.stringify(event.sealed)) }),
    }));
    expect(fold(read)).toEqual(JSON.parse(JSON.stringify(run)));
    expect(withoutNames(JSON.stringify(snapshotOf(run, this.#plan.sensitivity)))).not.toContain(SECRET);
    const waits = isTerminal(run.status) || run.status === "paused";
    if (!waits && wakeAtMs(run) === undefined) throw new Error(`a run that is ${run.status} has no due time`);
  }

  #check(event: RunEvent): void {
    const { payload } = EVENTS[event.type];
    if (!matches(payload, event.payload)) throw new Error(JSON.stringify(problemsOf(payload, event.payload)));
    expect(withoutNames(JSON.stringify(eventDoc(event)))).not.toContain(SECRET);
    if (event.type === "assay.loop.entered") for (const id of event.payload.nodeIds) this.#settled.delete(id);
    if (SETTLES.has(event.type)) {
      const { nodeId } = event as { nodeId: string };
      if (this.#settled.has(nodeId)) throw new Error(`${nodeId} ${event.type} after ${this.#settled.get(nodeId)}`);
      this.#settled.set(nodeId, event.type);
    }
  }
}

const POLICIES = ["immediate", "drain-current-node"] as const;
const SETTLES = new Set(["node.completed", "node.failed", "node.skipped", "node.cancelled"]);
const OUTCOMES: readonly NodeOutcome[] = [
  { type: "completed", outputs: { answer: `the ${SECRET} is out` } },
  { type: "completed", variables: { count: 4, password: `new ${SECRET}` } },
  { type: "failed", error: { code: "down", message: `${SECRET} refused`, retryable: true } },
  { type: "failed", error: { code: "broken", message: "no" } },
  { type: "sleep", forMs: 700 },
];

/** The author's own names are shown even where they read like the secret. */
function withoutNames(text: string): string {
  return text.replaceAll("secret-word", "").replaceAll("password", "");
}
