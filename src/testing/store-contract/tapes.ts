import { describe, expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";
import { HEADER_CHARACTERS_MAX, type StoredTape, TAPE_BODY, type TapeOutline } from "../../store/port/tapes.ts";
import * as build from "../builders.ts";
import { importing, pushing, sidecarOf, tapeOf } from "../tape-builders.ts";
import { deletionOf } from "./deletion.ts";
import { accept, refused, type Subject, upTo } from "./subject.ts";

const { NOW, newTenant, next, runCompleted, runWrite, startedRun } = build;

/** A run that has ended, not stored. */
function recorded(start: build.StartedRun): build.Built {
  const started = startedRun(start);
  const ended = next(started, NOW, runCompleted());
  return { run: ended.run, events: [...started.events, ...ended.events] };
}

async function imported(store: Store, start: build.StartedRun, more: Partial<StoredTape> = {}) {
  const built = recorded(start);
  const tape = tapeOf(built.run, more);
  await accept(store, { tenant: start.tenant, runs: [runWrite(built)], tapes: [importing(tape)] });
  return { run: built.run, tape };
}

const idsOf = (tapes: readonly TapeOutline[]) => tapes.map(({ runId }) => runId);

function outlineOf({ header, bodies: _, ...tape }: StoredTape): TapeOutline {
  return { ...tape, headerStart: header.slice(0, HEADER_CHARACTERS_MAX) };
}

export function tapes(subject: Subject): void {
  describe("a tape", () => {
    test("comes back as it was imported, to its tenant and workspace only", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const more = { name: "naïve “run”.tape", bodies: ["ab", "cd"], records: 0 };
      const { run, tape } = await imported(store, { tenant, workspace: "w1" }, more);
      const plain = await imported(store, { tenant });
      expect(await store.readTape({ tenant, workspace: "w1" }, run.runId)).toEqual(tape);
      expect(await store.readTape({ tenant }, plain.run.runId)).toEqual(plain.tape);
      for (const visible of [{ tenant: newTenant() }, { tenant, workspace: "w2" }]) {
        expect(await store.readTape(visible, run.runId)).toBeUndefined();
        expect(await store.listTapes(visible, { limit: 9 })).toEqual([]);
      }
    });

    test("is there once for each workspace, of however many that come at the same time", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const digest = build.sha256("the same");
      const outcomes = await Promise.all(
        upTo(8).map((i) => {
          const built = recorded({ tenant, ...(i < 4 ? {} : { workspace: "w1" }) });
          const unit = { tenant, runs: [runWrite(built)], tapes: [importing(tapeOf(built.run, { digest }))] };
          return store.commit(unit).then((committed) => ({ committed, runId: built.run.runId }));
        }),
      );
      const made = outcomes.flatMap(({ committed, runId }) => (committed.ok ? [runId] : []));
      expect(made).toHaveLength(2);
      for (const { committed, runId } of outcomes) {
        if (committed.ok) continue;
        expect(committed.refusal).toMatchObject({ type: "tape", runId: expect.toSatisfy((id) => made.includes(id)) });
        expect(await store.readRun({ tenant }, runId)).toBeUndefined();
      }
      expect(await store.listTapes({ tenant, workspace: "w1" }, { digest, limit: 9 })).toHaveLength(1);
      const another = await imported(store, { tenant: newTenant() }, { digest });
      expect(another.tape.digest).toBe(digest);
    });

    test("is listed newest first, in pages, and found by its digest", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const made: { run: Run; tape: StoredTape }[] = [];
      for (const i of upTo(5)) made.push(await imported(store, { tenant, atMs: NOW + i }));
      const newest = made.map(({ run }) => run.runId).reverse();
      const first = await store.listTapes({ tenant }, { limit: 3 });
      expect(idsOf(first)).toEqual(newest.slice(0, 3));
      const before = first.at(-1)?.runId ?? "";
      expect(idsOf(await store.listTapes({ tenant }, { limit: 3, before }))).toEqual(newest.slice(3));
      const [, second] = made;
      expect(await store.listTapes({ tenant }, { limit: 9, digest: second?.tape.digest ?? "" })).toEqual([
        second && outlineOf(second.tape),
      ]);
    });

    test("is listed without its bodies and with the start of its header, however long that is", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const header = `{"type":"header","version":1,"harn_version":"0.8","argv":["${"é".repeat(HEADER_CHARACTERS_MAX)}"]}`;
      const { tape } = await imported(store, { tenant }, { header, bodies: ["ab"] });
      const [listed] = await store.listTapes({ tenant }, { limit: 9 });
      expect(listed).toEqual(outlineOf(tape));
      expect(listed?.headerStart).toHaveLength(HEADER_CHARACTERS_MAX);
      // Sixteen beginnings of 131,072 bytes are more than are read at once.
      const others = upTo(19).map((i) => imported(store, { tenant, atMs: NOW + 1 + i }, { header }));
      await Promise.all(others);
      const page = await store.listTapes({ tenant }, { limit: 30 });
      expect([page.length, page.cut]).toEqual([15, true]);
      const before = page.at(-1)?.runId ?? "";
      const rest = await store.listTapes({ tenant }, { limit: 30, before });
      expect([rest.length, rest.cut, rest.at(-1)?.runId]).toEqual([5, undefined, listed?.runId]);
    });

    test("knows which of its bodies are here", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { run } = await imported(store, { tenant, workspace: "w1" });
      const { runId } = run;
      const body = (artifactId: string, artifactType = TAPE_BODY) =>
        build.artifactWrite(runId, { artifactId, artifactType });
      await accept(store, { tenant, artifacts: [body("cd"), body("ab"), body("report", "document")] });
      expect(await store.bodiesHere({ tenant }, runId)).toEqual(["ab", "cd"]);
      expect(await store.bodiesHere({ tenant, workspace: "w2" }, runId)).toEqual([]);
      expect(await store.bodiesHere({ tenant: newTenant() }, runId)).toEqual([]);
    });

    test("goes with its run, and its digest is free again", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { run, tape } = await imported(store, { tenant });
      const kept = await imported(store, { tenant });
      for (const one of [run, kept.run]) await accept(store, { tenant, tapes: [pushing(one, sidecarOf(one, 1))] });
      await accept(store, { tenant, deletions: [deletionOf(run)] });
      expect(await store.readTape({ tenant }, run.runId)).toBeUndefined();
      expect(await store.readSidecar({ tenant }, run.runId)).toBeUndefined();
      expect(await store.listTapes({ tenant }, { limit: 9 })).toEqual([outlineOf(kept.tape)]);
      expect(await store.readSidecar({ tenant }, kept.run.runId)).toEqual(sidecarOf(kept.run, 1));
      await imported(store, { tenant }, { digest: tape.digest });
    });
  });

  describe("a sidecar", () => {
    test("comes back as it was last pushed, to whoever sees the run", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { run } = await imported(store, { tenant, workspace: "w1" });
      expect(await store.readSidecar({ tenant }, run.runId)).toBeUndefined();
      await accept(store, { tenant, tapes: [pushing(run, sidecarOf(run, 1))] });
      const second = sidecarOf(run, 2, { text: '# ä\r\n{"x": 1}', pushedBy: "kim", pushedAtMs: NOW + 5 });
      await accept(store, { tenant, tapes: [pushing(run, second)] });
      expect(await store.readSidecar({ tenant, workspace: "w1" }, run.runId)).toEqual(second);
      expect(await store.readSidecar({ tenant, workspace: "w2" }, run.runId)).toBeUndefined();
      expect(await store.readSidecar({ tenant: newTenant() }, run.runId)).toBeUndefined();
    });

    test("is pushed at the revision before, by one of however many at the same time", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const { run } = await imported(store, { tenant });
      const { runId } = run;
      expect(await refused(store, { tenant, tapes: [pushing(run, sidecarOf(run, 2))] })).toEqual({
        type: "tape",
        runId,
      });
      for (const revision of [1, 2]) {
        const outcomes = await Promise.all(
          upTo(6).map((i) => {
            const sidecar = sidecarOf(run, revision, { text: String(i) });
            return store.commit({ tenant, tapes: [pushing(run, sidecar)] });
          }),
        );
        const refusals = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal]));
        expect(refusals).toEqual(upTo(5).map(() => ({ type: "tape", runId })));
      }
      expect((await store.readSidecar({ tenant }, runId))?.revision).toBe(2);
    });

    test("needs its run, and a run of another tenant is none", async () => {
      const { store } = subject;
      const others = await imported(store, { tenant: newTenant() });
      const tenant = newTenant();
      for (const run of [others.run, startedRun({ tenant }).run]) {
        const write = { ...pushing(run, sidecarOf(run, 1)), tenant };
        const refusal = { type: "version", runId: run.runId, version: 0 };
        expect(await refused(store, { tenant, tapes: [write] })).toEqual(refusal);
        expect(await store.readSidecar({ tenant }, run.runId)).toBeUndefined();
      }
    });
  });
}
