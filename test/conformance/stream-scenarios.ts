import { describe, expect, test } from "vitest";
import type { OutsideHost } from "./host.ts";

/** The log as it happens. */
export function streamScenarios(host: () => OutsideHost): void {
  describe("streams", () => {
    test("carry backlog and live events once, in order, and close at the end", async () => {
      const runId = await host().begin("sleep-then-go");
      const frames = await host().frames(`/v1/runs/${runId}/events?streamMode=debug`);
      const log = await host().events(runId);
      expect(frames.map((frame) => JSON.parse(frame.data))).toEqual(log);
      expect(frames.map((frame) => frame.id)).toEqual(log.map((event) => String(event.sequence)));
    });

    test("carry updates by default: outcomes, not starts", async () => {
      const runId = await host().begin("chain");
      const frames = await host().frames(`/v1/runs/${runId}/events`);
      expect(frames.map((frame) => frame.event)).toEqual([
        "run.started",
        "node.completed",
        "node.completed",
        "node.completed",
        "run.completed",
      ]);
    });

    test("in mode values end with the very snapshot", async () => {
      const runId = await host().begin("sleep-then-go");
      const frames = await host().frames(`/v1/runs/${runId}/events?streamMode=values`);
      expect(new Set(frames.map((frame) => frame.event))).toEqual(new Set(["state.snapshot"]));
      expect(frames.at(-1)?.data).toBe((await host().ask("GET", `/v1/runs/${runId}`)).text);
    });

    test("in mixed modes keep the order and name each frame by its event type", async () => {
      const runId = await host().begin("chain");
      const frames = await host().frames(`/v1/runs/${runId}/events?streamMode=updates,debug`);
      const log = await host().events(runId);
      expect(frames.map((frame) => [Number(frame.id), frame.event])).toEqual(
        log.map((event) => [event.sequence, event.type]),
      );
    });

    test("resume after Last-Event-ID, exclusively", async () => {
      const runId = await host().begin("chain");
      await host().ends(runId);
      const log = await host().events(runId);
      for (let last = 0; last < log.length; last++) {
        const frames = await host().frames(`/v1/runs/${runId}/events?streamMode=debug`, {
          "last-event-id": String(last),
        });
        expect(frames.map((frame) => Number(frame.id))).toEqual(log.slice(last + 1).map((event) => event.sequence));
      }
    });

    test("batch what comes within bufferMs", async () => {
      const runId = await host().begin("chain");
      const frames = await host().frames(`/v1/runs/${runId}/events?bufferMs=500`);
      expect(new Set(frames.map((frame) => frame.event))).toEqual(new Set(["batch"]));
      const all = frames.flatMap((frame) => JSON.parse(frame.data));
      expect(all.at(-1).type).toBe("run.completed");
      expect(frames.at(-1)?.id).toBe(String(all.at(-1).sequence));
    });

    test.each([
      ["streamMode=everything", "unsupported_stream_mode"],
      ["streamMode=values,updates", "unsupported_stream_mode"],
      ["bufferMs=5001", "validation_error"],
      ["bufferMs=-1", "validation_error"],
      ["bufferMs=soon", "validation_error"],
    ])("refuse %s", async (query, code) => {
      const runId = await host().begin("noop");
      const answer = await host().ask("GET", `/v1/runs/${runId}/events?${query}`);
      expect([answer.status, answer.json.error]).toEqual([400, code]);
    });

    test("are one JSON document for those who ask for JSON", async () => {
      const runId = await host().begin("noop");
      await host().ends(runId);
      const { json } = await host().ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
      expect(json).toEqual({ events: await host().events(runId) });
    });

    test("can be polled: after a cursor, past the end, and identically once the run has ended", async () => {
      const runId = await host().begin("noop");
      await host().ends(runId);
      const poll = (query: string) => host().ask("GET", `/v1/runs/${runId}/events/poll?${query}`);
      expect((await poll("lastSequence=1")).json.events.map((event: { sequence: number }) => event.sequence)).toEqual([
        2, 3,
      ]);
      expect((await poll("lastSequence=99")).json).toMatchObject({
        events: [],
        isComplete: true,
        isTerminal: true,
        lastSequence: 3,
      });
      expect((await poll("lastSequence=0")).text).toBe((await poll("lastSequence=0")).text);
      expect((await poll("timeout=0")).status).toBe(400);
      expect((await poll("lastSequence=x")).status).toBe(400);
    });
  });
}
