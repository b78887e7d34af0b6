import { describe, expect, test } from "vitest";
import { eventDoc } from "../../protocol/events.ts";
import {
  type Built,
  NOW,
  newId,
  newTenant,
  next,
  nodeCompleted,
  nodeStarted,
  runCompleted,
  runWrite,
  startedRun,
} from "../builders.ts";
import { accept, refused, type Subject, save, sequencesOf, upTo } from "./subject.ts";

export function appending(subject: Subject): void {
  describe("a run", () => {
    test("reads back as it was committed, with its events", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant(), workspace: "w1", inputs: { name: "Zoë" } });
      const { runId, owner } = started.run;
      await save(store, started);
      expect(await store.readRun(owner, runId)).toEqual(started.run);

      const more = next(started, NOW + 5, nodeStarted(), nodeCompleted(), runCompleted());
      await save(store, more);
      expect(await store.readRun(owner, runId)).toEqual(more.run);
      expect(await store.readEvents(runId, 0, 100)).toEqual(
        [...started.events, ...more.events].map((event) => ({
          sequence: event.sequence,
          type: event.type,
          body: JSON.stringify(eventDoc(event)),
        })),
      );
    });

    test("gives its events a page at a time", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      await save(store, started);
      await save(store, next(started, NOW, nodeStarted("a"), nodeStarted("b"), nodeStarted("c")));

      const { runId } = started.run;
      const sequences = async (from: number, limit: number) =>
        (await store.readEvents(runId, from, limit)).map((event) => event.sequence);
      expect(await sequences(0, 2)).toEqual([0, 1]);
      expect(await sequences(2, 2)).toEqual([2, 3]);
      expect(await sequences(4, 2)).toEqual([]);
    });

    test("that does not exist is undefined and has no events", async () => {
      const { store } = subject;
      const runId = newId("run");
      expect(await store.readRun({ tenant: newTenant() }, runId)).toBeUndefined();
      expect(await store.readEvents(runId, 0, 10)).toEqual([]);
      expect(await store.runRow(runId)).toBeUndefined();
    });
  });

  describe("an event", () => {
    const awkward =
      'quote " backslash \\ brace {},NULL tab \t line \n zero \u0000 lone \ud83d pair 😀 separator \u2028';

    test("is served byte for byte as it was first written", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant(), inputs: { awkward, "": null, empty: "", pi: 3.14e-7 } });
      await save(store, started);
      const [event] = await store.readEvents(started.run.runId, 0, 1);
      expect(event?.body).toBe(JSON.stringify(started.events.map(eventDoc)[0]));
      expect(await store.readRun(started.run.owner, started.run.runId)).toEqual(started.run);
    });

    test("keeps its sensitive values beside the served text, never in it", async () => {
      const { store } = subject;
      const sealedInputs = { password: `hunter2 ${awkward}` };
      const started = startedRun({ tenant: newTenant(), inputs: { password: "[REDACTED]" }, sealedInputs });
      await save(store, started);
      const [event] = await store.readEvents(started.run.runId, 0, 1);
      expect(event?.body).not.toContain("hunter2");
      expect(JSON.parse(event?.sealed ?? "{}")).toEqual(started.events[0]?.sealed);
      expect((await store.readRun(started.run.owner, started.run.runId))?.variables).toEqual(sealedInputs);
    });
  });

  describe("a write decided at another version", () => {
    test("is refused with the version where the run is", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      const { runId, owner } = started.run;
      const { tenant } = owner;
      await save(store, started);
      const more = next(started, NOW, nodeStarted(), nodeCompleted());
      await save(store, more);

      const atVersion3 = { type: "version", runId, version: 3 };
      expect(await refused(store, { tenant, runs: [runWrite(started)] })).toEqual(atVersion3);
      expect(await refused(store, { tenant, runs: [runWrite(more)] })).toEqual(atVersion3);
      const ahead = next(next(more, NOW, nodeStarted("b")), NOW, nodeCompleted("b"));
      expect(await refused(store, { tenant, runs: [runWrite(ahead)] })).toEqual(atVersion3);
      expect(await sequencesOf(store, runId)).toEqual([0, 1, 2]);
    });

    test("of a run that does not exist is refused with version 0", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const started = startedRun({ tenant });
      const more = next(started, NOW, nodeStarted());
      const { runId } = started.run;
      expect(await refused(store, { tenant, runs: [runWrite(more)] })).toEqual({ type: "version", runId, version: 0 });
    });

    test("of another tenant's run is refused as if there were none", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      await save(store, started);
      const { runId } = started.run;
      const more = runWrite(next(started, NOW, nodeStarted()));
      expect(await refused(store, { tenant: newTenant(), runs: [more] })).toEqual({
        type: "version",
        runId,
        version: 0,
      });
      expect(await sequencesOf(store, runId)).toEqual([0]);
    });
  });

  describe("concurrent writers", () => {
    test("at one version of a run: exactly one wins, and the others learn the new version", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      const { runId, owner } = started.run;
      await save(store, started);
      const rivals = upTo(8).map((n) => next(started, NOW, nodeStarted(`n${n}`)));
      const results = await Promise.all(
        rivals.map((rival) => store.commit({ tenant: owner.tenant, runs: [runWrite(rival)] })),
      );

      expect(results.filter((result) => result.ok)).toHaveLength(1);
      for (const result of results) {
        if (!result.ok) expect(result.refusal).toEqual({ type: "version", runId, version: 2 });
      }
      const winner = rivals[results.findIndex((result) => result.ok)];
      expect(await store.readRun(owner, runId)).toEqual(winner?.run);
      expect(await sequencesOf(store, runId)).toEqual([0, 1]);
    });

    test("creating one run: exactly one does", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const runId = newId("run");
      const rivals = upTo(5).map(() => store.commit({ tenant, runs: [runWrite(startedRun({ tenant, runId }))] }));
      expect((await Promise.all(rivals)).filter((result) => result.ok)).toHaveLength(1);
      expect(await sequencesOf(store, runId)).toEqual([0]);
    });

    test("on many runs: every unit lands and no log has a gap", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const grow = async (): Promise<Built> => {
        let built = startedRun({ tenant });
        await save(store, built);
        for (const n of upTo(8)) {
          built = next(built, NOW + n, nodeStarted(`n${n}`), nodeCompleted(`n${n}`));
          await save(store, built);
        }
        return built;
      };
      const grown = await Promise.all(upTo(30).map(grow));
      for (const { run } of grown) {
        expect(await store.readRun(run.owner, run.runId)).toEqual(run);
        expect(await sequencesOf(store, run.runId)).toEqual(upTo(17));
      }
    });

    test("that look again after a refusal all get their turn", async () => {
      const { store } = subject;
      const started = startedRun({ tenant: newTenant() });
      const { runId, owner } = started.run;
      await save(store, started);
      const addOne = async (n: number): Promise<void> => {
        for (;;) {
          const run = await store.readRun(owner, runId);
          if (run === undefined) throw new Error("the run is gone");
          const more = next({ run, events: [] }, NOW, nodeStarted(`n${n}`));
          if ((await store.commit({ tenant: owner.tenant, runs: [runWrite(more)] })).ok) return;
        }
      };
      await Promise.all(upTo(12).map(addOne));
      expect(await sequencesOf(store, runId)).toEqual(upTo(13));
      expect(Object.keys((await store.readRun(owner, runId))?.nodes ?? {})).toHaveLength(12);
    });
  });

  describe("reads", () => {
    test("see every commit acknowledged before them", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await Promise.all(
        upTo(40).map(async () => {
          const started = startedRun({ tenant });
          await accept(store, { tenant, runs: [runWrite(started)] });
          expect(await store.readRun({ tenant }, started.run.runId)).toEqual(started.run);
        }),
      );
    });
  });
}
