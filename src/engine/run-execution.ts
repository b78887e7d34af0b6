import { AppError } from "../protocol/errors.ts";
import type { Run } from "../protocol/run.ts";
import type { RunWrite } from "../store/store.ts";
import type { Plan } from "./decide/plan.ts";
import type { Host } from "./host.ts";
import type { NodeOutcome } from "./node-type.ts";
import { type Finished, type Launch, takeTurn, thrown } from "./turn.ts";

interface Attempt {
  readonly attempt: number;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/**
 * One leased run in the hands of one worker: takes turns, commits them, runs effect nodes in between, and lets go
 * when nothing is left to do now. Every write is fenced by version and lease, so a worker that lost the run can
 * neither overwrite nor duplicate anything.
 */
export class RunExecution {
  readonly runId: string;
  readonly startedAtMs: number;
  readonly #host: Host;
  readonly #workerId: string;
  #run: Run;
  #stale = false;
  #stopped = false;
  readonly #attempts = new Map<string, Attempt>();
  #finished: Finished[] = [];
  #wake: () => void = () => {};

  constructor(host: Host, workerId: string, run: Run) {
    this.#host = host;
    this.#workerId = workerId;
    this.#run = run;
    this.runId = run.runId;
    this.startedAtMs = host.nowMs();
  }

  /** Somebody else changed the run: look again. Cheap when nothing is being waited for. */
  poke(): void {
    this.#stale = true;
    this.#wake();
  }

  /** Stop as soon as possible without writing more: the lease is lost or the worker is going away. */
  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  /** Resolves when this worker has let go of the run. Database trouble ends it too: the lease will run out. */
  async go(): Promise<void> {
    try {
      const plan = await this.#host.plans.byHash(this.#run.workflowHash);
      while (!this.#stopped) {
        if (await this.#turn(plan)) return;
        await this.#somethingToDo();
        if (this.#stale) await this.#reload();
      }
      await this.#release();
    } finally {
      for (const attempt of this.#attempts.values()) attempt.abort.abort();
    }
  }

  /** True when the run was let go. */
  async #turn(plan: Plan): Promise<boolean> {
    const before = this.#run;
    const finished = this.#finished;
    this.#finished = [];
    const executing = new Map([...this.#attempts].map(([nodeId, { attempt }]) => [nodeId, attempt]));
    const turn = takeTurn(this.#host, plan, before, finished, executing);
    const letGo = turn.launches.length === 0 && !this.#stillExecuting(turn.run);
    if (turn.events.length === 0 && !letGo) return false;
    const written = await this.#write(before, { events: turn.events, run: turn.run, letGo });
    if (written === "stale") {
      // Somebody was faster. What finished is kept: the next turn settles it against the run as it is now.
      this.#finished = [...finished, ...this.#finished];
      await this.#reload();
      return false;
    }
    if (written === "lost") return true;
    this.#run = turn.run;
    this.#dropOverridden();
    for (const launch of turn.launches) this.#launch(launch);
    return letGo;
  }

  #stillExecuting(run: Run): boolean {
    return Object.values(run.nodes).some((node) => node.status === "executing");
  }

  async #write(
    before: Run,
    { events, run, letGo }: { events: RunWrite["events"]; run: Run; letGo: boolean },
  ): Promise<"done" | "stale" | "lost"> {
    const committed = await this.#host.store.commit({
      tenant: run.owner.tenant,
      runs: [
        {
          runId: this.runId,
          expectedVersion: before.version,
          events,
          run,
          heldBy: this.#workerId,
          ...(letGo ? { lease: "release" as const } : {}),
        },
      ],
    });
    if (committed.ok) return "done";
    return committed.refusal.type === "version" ? "stale" : "lost";
  }

  async #reload(): Promise<void> {
    this.#stale = false;
    const run = await this.#host.store.readRun({ tenant: this.#run.owner.tenant }, this.runId);
    if (!run) throw new AppError("not_found", { what: "run", runId: this.runId });
    this.#run = run;
    this.#dropOverridden();
  }

  /** Attempts that the log has ended meanwhile are told to stop; their results no longer count. */
  #dropOverridden(): void {
    for (const [nodeId, held] of this.#attempts) {
      const state = this.#run.nodes[nodeId];
      if (state?.status === "executing" && state.attempt === held.attempt && this.#run.status !== "cancelling")
        continue;
      held.abort.abort();
      this.#attempts.delete(nodeId);
    }
  }

  #launch({ node, attempt, type, context, pins }: Launch): void {
    const abort = new AbortController();
    const nodeId = node.id;
    const ended = (outcome: NodeOutcome) => {
      if (this.#attempts.get(nodeId)?.attempt === attempt) this.#attempts.delete(nodeId);
      this.#finished.push({ nodeId, attempt, outcome, pins });
      this.#wake();
    };
    const done = type
      .execute({ ...context, signal: abort.signal })
      .then(ended, (error: unknown) => ended({ type: "failed", error: thrown(error) }));
    this.#attempts.set(nodeId, { attempt, abort, done });
  }

  /** Waits for a result, a poke, a stop, or the next timer of the run, whichever is first. */
  async #somethingToDo(): Promise<void> {
    if (this.#finished.length > 0 || this.#stale || this.#stopped || this.#attempts.size === 0) return;
    const due = this.#nextDueMs();
    await new Promise<void>((resolve) => {
      const timer = due === undefined ? undefined : setTimeout(resolve, Math.max(0, due - this.#host.nowMs()));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  #nextDueMs(): number | undefined {
    const times = Object.values(this.#run.nodes).flatMap(({ dueAtMs }) => (dueAtMs === undefined ? [] : [dueAtMs]));
    const { runDurationMs } = this.#run.limits;
    if (runDurationMs !== undefined) times.push(Date.parse(this.#run.startedAt) + runDurationMs);
    // Timers longer than this overflow; looking again once a day costs nothing.
    return times.length === 0 ? undefined : Math.min(...times, this.#host.nowMs() + 86_400_000);
  }

  /** Hands an unfinished run back to the queue, so that nobody has to wait for the lease to end. */
  async #release(): Promise<void> {
    await this.#write(this.#run, { events: [], run: this.#run, letGo: true });
  }
}
