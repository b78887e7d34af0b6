import { describe, expect, test } from "vitest";
import { endsLog } from "../../engine/event-pages.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { EVENT_PAGE_BYTES, LARGE_STATE_BYTES } from "../../store/large-rows.ts";
import { NOW, newTenant, next, startedRun } from "../builders.ts";
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
      expect([page.cut, endsLog(page, 100)]).toEqual([true, false]);
      const rest = await store.readEvents(runId, 3, 100);
      expect(rest.map(({ sequence }) => sequence)).toEqual([3, 4]);
      expect(endsLog(rest, 100)).toBe(true);
      const bodies = [...page, ...rest].map(({ body }) => JSON.parse(body).payload);
      expect(bodies).toEqual(all.map(({ payload }) => payload));
      const bytes = [...page, ...rest].reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      expect(await store.logBytes(runId, 100)).toBe(bytes);
      expect(await store.logBytes(runId, 0)).toBe(0);
    });
  });
}
