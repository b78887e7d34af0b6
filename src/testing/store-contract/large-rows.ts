import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { ENGINE_VERSION, type EventDraft } from "../../protocol/events.ts";
import { EVENT_PAGE_BYTES, isLastPage, LARGE_STATE_BYTES } from "../../store/port/large-rows.ts";
import { type Built, HOUR, NOW, newId, newTenant, next, nodeStarted, runWrite, startedRun } from "../builders.ts";
import { type Subject, save } from "./subject.ts";

function variableSet(text: string): EventDraft {
  return { type: "variable.changed", nodeId: "a", payload: { name: "x", next: text, nodeId: "a" } };
}

export function largeRows(subject: Subject): void {
  describe("a run whose state is large", () => {
    test("is read after its reader has made room, and not at all when the reader is refused", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { run, ...built } = startedRun({ tenant, workspace: "w", inputs: { x: "x".repeat(LARGE_STATE_BYTES) } });
      await save(store, { run, ...built });
      const asked: number[] = [];
      const beforeLargeRead = async (bytes: number) => void asked.push(bytes);
      expect(await store.readRun({ tenant, beforeLargeRead }, run.runId)).toEqual(run);
      expect(await store.readRun({ tenant, workspace: "w", beforeLargeRead }, run.runId)).toEqual(run);
      expect(asked).toEqual([JSON.stringify(run).length, JSON.stringify(run).length]);
      expect(await store.readRun({ tenant, workspace: "other", beforeLargeRead }, run.runId)).toBeUndefined();
      const refuse = async () => {
        throw new AppError("unavailable", { reason: "no room" });
      };
      await expect(store.readRun({ tenant, beforeLargeRead: refuse }, run.runId)).rejects.toThrow("no room");
      expect(asked).toHaveLength(2);
    });

    test("is counted without being read, as one of a list too", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const small = startedRun({ tenant, atMs: NOW });
      const large = startedRun({ tenant, atMs: NOW + 1, inputs: { x: "ä".repeat(5000) } });
      for (const built of [small, large]) await save(store, built);
      const sizes = [large, small].map(({ run }) => Buffer.byteLength(JSON.stringify(run)));
      expect(await store.stateBytes({ tenant }, { limit: 10 })).toEqual(sizes);
      expect(await store.stateBytes({ tenant }, { limit: 1 })).toEqual(sizes.slice(0, 1));
    });
  });

  describe("the outline of a run", () => {
    test("is its status and the bytes of its state, for runs of the tenant", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [one, other] = [
        startedRun({ tenant, inputs: { x: "ä".repeat(500) } }),
        startedRun({ tenant: newTenant() }),
      ];
      for (const built of [one, other]) await save(store, built);
      const { runId, status } = one.run;
      const stateBytes = Buffer.byteLength(JSON.stringify(one.run));
      const ids = [runId, other.run.runId, ...Array.from({ length: 1200 }, () => newId("run"))];
      expect(await store.runOutlines(tenant, ids)).toEqual([{ runId, status, stateBytes }]);
      expect(await store.runOutlines(tenant, [])).toEqual([]);
    });
  });

  describe("the head of a run", () => {
    test("is what the run is after its state was dropped, whatever texts the state holds", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const texts = ["\u0000", "\ud800", "\\ud800", "\\u0000", 'ä\n"', "x".repeat(10_000)];
      const begun = startedRun({ tenant, workspace: "w", inputs: { texts }, metadata: { agentId: "scribe" } });
      const child = { nodeId: "a", childRunId: newId("run") };
      const started = { childWorkflowId: "below", waits: true, propagates: true, takes: ["x"] };
      const built = next(
        begun,
        NOW,
        nodeStarted(),
        { type: "assay.child.started", nodeId: "a", payload: { ...child, ...started } },
        { type: "assay.child.ended", nodeId: "a", payload: { ...child, status: "completed", outputs: { texts } } },
      );
      await save(store, begun);
      await save(store, built);
      const { run } = built;
      const bytes = Buffer.byteLength(JSON.stringify(run));
      const dropped: EventDraft = { type: "assay.state.dropped", payload: { bytes, limitBytes: 1 } };
      const { run: after } = next(built, NOW, dropped);
      const head = await store.readHead({ tenant, workspace: "w" }, run.runId);
      expect({ ...head, version: run.version + 1 }).toEqual(after);
      expect(head).toMatchObject({ stateOmitted: { bytes }, variables: {}, nodes: {}, owner: { workspace: "w" } });
      expect(head?.children[child.childRunId]).toEqual({
        nodeId: "a",
        visit: 0,
        workflowId: "below",
        status: "completed",
        waits: true,
        propagates: true,
        takes: ["x"],
      });
      expect(await store.readHead({ tenant, workspace: "other" }, run.runId)).toBeUndefined();
      expect(await store.readHead({ tenant: newTenant() }, run.runId)).toBeUndefined();
    });

    test("takes the place of a run in a list and among descendants, where its state is too large", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const root = startedRun({ tenant, atMs: NOW, inputs: { x: "x".repeat(5000) } });
      const parent = { runId: root.run.runId, nodeId: "a", depth: 1, rootRunId: root.run.runId };
      const child = startedRun({ tenant, atMs: NOW + 1, inputs: { x: "x".repeat(5000) }, parent });
      for (const built of [root, child]) await save(store, built);
      const heads = [child, root].map(({ run }) => expect.objectContaining({ runId: run.runId, variables: {} }));
      expect(await store.listRuns({ tenant }, { limit: 9, statesUpTo: 1000 })).toEqual(heads);
      expect(await store.listRuns({ tenant }, { limit: 9, statesUpTo: 100_000 })).toEqual([child.run, root.run]);
      const below = { rootRunId: root.run.runId, after: "", limit: 9 };
      expect(await store.activeDescendants({ tenant }, { ...below, statesUpTo: 1000 })).toEqual(heads.slice(0, 1));
    });
  });

  describe("a due run with a large state", () => {
    test("is found without being read, unless a worker holds it or it is for a newer engine", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const inputs = { x: "x".repeat(5_000_000) };
      const [free, held, newer] = [{}, {}, { engineVersion: ENGINE_VERSION + 1 }].map((more) =>
        startedRun({ tenant, inputs, ...more }),
      ) as [Built, Built, Built];
      for (const built of [free, newer, startedRun({ tenant })]) await save(store, built);
      const lease = { owner: "w", untilMs: NOW + HOUR };
      await store.commit({ tenant, runs: [runWrite(held, { lease })] });
      const query = { engineVersion: ENGINE_VERSION, aboveBytes: 4_000_000, limit: 100 };
      const found = async (nowMs: number) =>
        (await store.dueBeyond({ ...query, nowMs })).filter((one) => one.tenant === tenant).map(({ runId }) => runId);
      expect(await found(NOW - 1)).toEqual([]);
      expect(await found(NOW)).toEqual([free.run.runId]);
      expect((await found(NOW + HOUR)).toSorted()).toEqual([free.run.runId, held.run.runId].toSorted());
    });
  });

  describe("a log of large events", () => {
    test("comes in pages that end early and say so, each event whole and in its place", async () => {
      const { store } = subject;
      const begun = startedRun({ tenant: newTenant() });
      await save(store, begun);
      const half = "y".repeat(EVENT_PAGE_BYTES * 0.6);
      const texts = [half, "small", half, "z".repeat(40_000)];
      const more = next(begun, NOW, ...texts.map(variableSet));
      await save(store, more);
      const { runId } = begun.run;
      const all = [...begun.events, ...more.events];
      const page = await store.readEvents(runId, 0, 100);
      expect(page.map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
      expect([page.cut, isLastPage(page, 100)]).toEqual([true, false]);
      const rest = await store.readEvents(runId, 3, 100);
      expect(rest.map(({ sequence }) => sequence)).toEqual([3, 4]);
      expect(isLastPage(rest, 100)).toBe(true);
      const bodies = [...page, ...rest].map(({ body }) => JSON.parse(body).payload);
      expect(bodies).toEqual(all.map(({ payload }) => payload));
      const bytes = [...page, ...rest].reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      expect(await store.logBytes(runId, 100)).toBe(bytes);
      expect(await store.logBytes(runId, 0)).toBe(0);
    });
  });
}
