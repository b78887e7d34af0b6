import { beforeEach, expect } from "vitest";
import type { Host } from "../engine/host.ts";
import { endsRun, type PayloadOf } from "../protocol/events.ts";
import type { Run } from "../protocol/runs/run.ts";
import type { RunStatus } from "../protocol/runs/run-status.ts";
import { begin, engineOn, logOf, register, scriptedEffect, until } from "./engine.ts";
import { workbench } from "./workbench.ts";
import { type WorkflowSpec, workflow } from "./workflow.ts";

export const is = (status: RunStatus) => (run: Run) => run.status === status;

/** A workbench for workflows that run each other, with nodes `test.effect` that do what the test says. */
export function familyBench() {
  const bench = workbench();
  const effect = scriptedEffect("test.effect");
  let host: Host;
  beforeEach(() => {
    effect.calls.length = 0;
    host = engineOn(bench.store, [effect]);
  });
  return {
    effect,
    get host() {
      return host;
    },
    get store() {
      return bench.store;
    },
    work: bench.work,
    define: (id: string, spec: WorkflowSpec) => register(host, workflow({ id, ...spec })),
    async start(workflowId: string, at: (run: Run) => boolean = is("waiting-approval")): Promise<string> {
      const runId = await begin(host, { workflowId });
      await until(bench.store, runId, at);
      return runId;
    },
    /** How the log of a run says that it was cancelled; it must be the last it says. */
    async cancelledBy({ runId }: Run): Promise<PayloadOf<"run.cancelled">> {
      const log = await logOf(bench.store, runId);
      expect(log.filter(({ type }) => endsRun(type))).toHaveLength(1);
      expect(log.at(-1)?.type).toBe("run.cancelled");
      return log.at(-1)?.payload as PayloadOf<"run.cancelled">;
    },
  };
}
