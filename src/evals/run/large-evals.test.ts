import { describe, expect, test } from "vitest";
import type { Host } from "../../engine/host.ts";
import type { EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { Store } from "../../store/port/store.ts";
import { ADA, until } from "../../testing/engine.ts";
import { agentOf, agentsOf, beginEval, evalHost, suiteOf } from "../../testing/eval-bench.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { evalReport } from "./eval-report.ts";
import { evalTaskBodies } from "./task-bodies.ts";

const bench = workbench();
const TASKS = 46;
const TRIALS = 20;

function taskOf(taskId: string): EvalTask {
  return { taskId, input: "x", expected: { kind: "golden", match: { strategy: "contains", value: "some words" } } };
}

/** Counts the characters of all documents with results that one call gives back. */
function counting(host: Host): { readonly host: Host; readonly reads: number[] } {
  const reads: number[] = [];
  const counted = <T extends readonly { readonly kind: string; readonly body: string }[]>(found: T): T => {
    const results = found.filter(({ kind }) => kind === "eval-task");
    if (results.length > 0) reads.push(results.reduce((sum, { body }) => sum + body.length, 0));
    return found;
  };
  const store: Store = {
    ...bench.store,
    readDocument: async (id) => {
      const found = await bench.store.readDocument(id);
      if (found !== undefined) counted([found]);
      return found;
    },
    readDocuments: async (...given) => counted(await bench.store.readDocuments(...given)),
    listDocuments: async (...given) => counted(await bench.store.listDocuments(...given)),
  };
  return { host: { ...host, store }, reads };
}

describe("an evaluation with megabytes of outputs", () => {
  test("is reported on, and its tasks are shown, with a few megabytes read at a time", async () => {
    let n = 0;
    const agents = agentsOf([agentOf()], () => ({
      type: "completed",
      output: `${++n} `.padEnd(19_000, "some words "),
    }));
    const suite = suiteOf(Array.from({ length: TASKS }, (_, i) => taskOf(`t${i}`)));
    const made = await evalHost(bench.store, suite, { agents });
    const working = { ...made.host, localWorker: bench.work(made.host) };
    const runId = await beginEval({ ...made, host: working }, { trials: TRIALS });
    await until(bench.store, runId, ended);

    const { host, reads } = counting(made.host);
    const report = await evalReport(host, ADA, runId);
    expect(report.figures.trials.total).toBe(TASKS * TRIALS);
    expect(Math.max(...reads)).toBeLessThan(2_100_000);

    const { tasks } = await evalReport(host, ADA, runId, { content: true });
    const shown = tasks.flatMap(({ content }) => (content === undefined ? [] : content.length));
    expect(shown.length).toBeGreaterThan(30);
    expect(shown.length).toBeLessThan(TASKS);
    expect(new Set(shown)).toEqual(new Set([TRIALS]));
    expect(tasks.slice(0, shown.length).every(({ content }) => content !== undefined)).toBe(true);
    expect(Math.max(...reads)).toBeLessThan(2_100_000);

    reads.length = 0;
    const bodies = await evalTaskBodies(host, ADA, runId, "t45");
    expect(bodies.trials).toHaveLength(TRIALS);
    expect(reads).toHaveLength(1);
  });
});
