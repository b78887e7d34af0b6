import { describe, expect, test } from "vitest";
import { wakeAtMs } from "../../protocol/runs/due-times.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { fold } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";
import {
  artifactWrite,
  NOW,
  newTenant,
  next,
  nodeCompleted,
  nodeSleeps,
  nodeStarted,
  runCompleted,
  startedRun,
} from "../builders.ts";
import { accept, eventsOf, idsOf, type Subject, save } from "./subject.ts";

/** Runs in the order of their creation, one a millisecond. */
async function startMany(store: Store, tenant: string, count: number, workflowId = "wf-greet"): Promise<Run[]> {
  const runs: Run[] = [];
  for (let n = 0; n < count; n++) {
    const started = startedRun({ tenant, workflowId, atMs: NOW + n });
    await save(store, started);
    runs.push(started.run);
  }
  return runs;
}

export function runs(subject: Subject): void {
  describe("the runs of a tenant", () => {
    test("are listed newest first, a page at a time", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const newest = (await startMany(store, tenant, 5)).reverse();
      expect(await store.listRuns({ tenant }, { limit: 2 })).toEqual(newest.slice(0, 2));
      expect(await store.listRuns({ tenant }, { limit: 2, before: newest[1]?.runId ?? "" })).toEqual(
        newest.slice(2, 4),
      );
      expect(await store.listRuns({ tenant }, { limit: 2, before: newest[4]?.runId ?? "" })).toEqual([]);
    });

    test("can be listed by workflow and by status", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [one, two] = [await startMany(store, tenant, 2, "wf-1"), await startMany(store, tenant, 2, "wf-2")];
      const [first = one[0]] = one;
      const ended = next({ run: first as Run, events: [] }, NOW + 9, runCompleted());
      await save(store, ended);

      const list = async (query: { workflowId?: string; status?: Run["status"] }) =>
        idsOf(await store.listRuns({ tenant }, { limit: 10, ...query })).sort();
      expect(await list({ workflowId: "wf-2" })).toEqual(idsOf(two).sort());
      expect(await list({ status: "completed" })).toEqual([ended.run.runId]);
      expect(await list({ workflowId: "wf-1", status: "pending" })).toEqual([one[1]?.runId]);
      expect(await list({ workflowId: "wf-2", status: "completed" })).toEqual([]);
    });
  });

  describe("a caller", () => {
    test("sees nothing of another tenant or, with a key for one workspace, of another workspace", async () => {
      const { store } = subject;
      const [tenant, other] = [newTenant(), newTenant()];
      const inW1 = startedRun({ tenant, workspace: "w1" });
      const inNone = startedRun({ tenant });
      const foreign = startedRun({ tenant: other, workspace: "w1" });
      for (const built of [inW1, inNone, foreign]) {
        await save(store, built);
        await accept(store, { tenant: built.run.owner.tenant, artifacts: [artifactWrite(built.run.runId)] });
      }

      const visibleTo = async (visible: { tenant: string; workspace?: string }) => {
        const seen = { runs: [] as string[], artifacts: [] as string[] };
        for (const { run } of [inW1, inNone, foreign]) {
          if (await store.readRun(visible, run.runId)) seen.runs.push(run.runId);
          if (await store.readArtifact(visible, run.runId, "report")) seen.artifacts.push(run.runId);
        }
        expect(idsOf(await store.listRuns(visible, { limit: 10 })).sort()).toEqual([...seen.runs].sort());
        expect(seen.artifacts).toEqual(seen.runs);
        return seen.runs;
      };
      expect(await visibleTo({ tenant })).toEqual([inW1.run.runId, inNone.run.runId]);
      expect(await visibleTo({ tenant, workspace: "w1" })).toEqual([inW1.run.runId]);
      expect(await visibleTo({ tenant, workspace: "w2" })).toEqual([]);
      expect(await visibleTo({ tenant: other })).toEqual([foreign.run.runId]);
      expect(await visibleTo({ tenant: newTenant() })).toEqual([]);
    });
  });

  describe("a run row", () => {
    test("is what the events of the run fold to", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const sealed = startedRun({
        tenant,
        workspace: "w1",
        inputs: { pin: "[REDACTED]" },
        sealedInputs: { pin: "1234" },
      });
      const busy = startedRun({ tenant, engineVersion: 7 });
      const asleep = startedRun({ tenant });
      const done = startedRun({ tenant, workflowId: "wf-2" });
      for (const built of [sealed, busy, asleep, done]) await save(store, built);
      await save(store, next(busy, NOW + 1, nodeStarted("a"), nodeCompleted("a"), nodeStarted("b")));
      await save(store, next(asleep, NOW + 2, nodeStarted(), nodeSleeps(60_000)));
      const halfDone = next(done, NOW + 3, nodeStarted(), nodeCompleted());
      await save(store, halfDone);
      await save(store, next(halfDone, NOW + 4, runCompleted()));

      const all: string[] = [];
      for (
        let page = await store.allRunIds("", 3);
        page.length > 0;
        page = await store.allRunIds(all.at(-1) ?? "", 3)
      ) {
        all.push(...page);
      }
      expect(all).toEqual([sealed, busy, asleep, done].map(({ run }) => run.runId).sort());

      for (const runId of all) {
        const state = fold(await eventsOf(store, runId));
        if (state === undefined) throw new Error(`run ${runId} has no events`);
        expect(await store.runRow(runId)).toEqual({
          runId,
          tenant,
          workspace: state.owner.workspace ?? null,
          workflowId: state.workflowId,
          workflowHash: state.workflowHash,
          status: state.status,
          version: state.version,
          engineVersion: state.engineVersion,
          wakeAtMs: wakeAtMs(state) ?? null,
          agentId: null,
          intervened: false,
          state,
        });
      }
      expect(await store.countRuns()).toEqual({ pending: 1, running: 2, completed: 1 });
    });
  });
}
