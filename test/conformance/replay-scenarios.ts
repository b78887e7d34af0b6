import { describe, expect, test } from "vitest";
import { type Answer, type OutsideHost, refusal } from "./host.ts";

const NOBODY = "run-00000000000000000000000000";

/** Repeating a run from its record, going another way from the middle of it, and comparing the two. */
export function replayScenarios(host: () => OutsideHost): void {
  const forking = (runId: string, body: unknown) => host().ask("POST", `/v1/runs/${runId}:fork`, { body });

  async function forked(runId: string, body: unknown): Promise<Answer["json"]> {
    const answer = await forking(runId, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.json;
  }

  async function ended(workflowId: string, more: object = {}): Promise<string> {
    const runId = await host().begin(workflowId, more);
    await host().ends(runId);
    return runId;
  }

  const payloads = async (runId: string) =>
    (await host().events(runId)).map(({ type, nodeId, payload }) => ({ type, nodeId, payload }));

  describe("a replay", () => {
    test("is advertised with its modes, and with what it does about effects", async () => {
      const { replay } = (await host().ask("GET", "/.well-known/openwop", { key: "" })).json;
      expect(replay.supported).toBe(true);
      expect(replay.modes).toEqual(expect.arrayContaining(["replay", "branch"]));
      expect(replay.sideEffectSuppression).toBe("recorded-outcome");
    });

    test.each(["noop", "chain", "failing", "sleep-then-go"])("of %s has the payloads of its source", async (id) => {
      const source = await ended(id, id === "sleep-then-go" ? { inputs: { delayMs: 10 } } : {});
      const fork = await forked(source, { mode: "replay" });
      expect(fork).toMatchObject({ sourceRunId: source, fromSeq: 0, mode: "replay" });
      expect(fork.runId).not.toBe(source);
      expect(fork.eventsUrl).toContain(fork.runId);
      await host().ends(fork.runId);
      expect(await payloads(fork.runId)).toEqual(await payloads(source));
    });

    test("from any sequence has the same events up to there, and the same end", async () => {
      const source = await ended("chain");
      const original = await host().events(source);
      for (const fromSeq of [0, 1, 3, original.length - 1]) {
        const { runId } = await forked(source, { mode: "replay", fromSeq });
        await host().ends(runId);
        const log = await host().events(runId);
        expect(log.map(({ sequence, type }) => [sequence, type])).toEqual(
          original.map(({ sequence, type }) => [sequence, type]),
        );
      }
    });

    test("of a decided gate asks nobody again", async () => {
      const source = await host().waits("approval");
      await host().answer(source, { action: "accept" });
      await host().ends(source);
      const { runId } = await forked(source, { mode: "replay" });
      expect((await host().ends(runId)).status).toBe("completed");
      expect(await payloads(runId)).toEqual(await payloads(source));
    });

    test("that comes to an effect its source never had fails closed", async () => {
      const source = await host().begin("sleep-then-effect", { inputs: { delayMs: 60_000 } });
      await host().reaches(source, "running");
      const { runId } = await forked(source, { mode: "replay" });
      const run = await host().ends(runId);
      expect([run.status, run.error.code]).toEqual(["failed", "replay_source_missing"]);
      await host().ask("POST", `/v1/runs/${source}/cancel`, { body: {} });
    });

    test("of a run that was cancelled before its effect reaches the effect and fails closed", async () => {
      const source = await host().begin("sleep-then-effect", { inputs: { delayMs: 60_000 } });
      await host().reaches(source, "running");
      await host().ask("POST", `/v1/runs/${source}/cancel`, { body: { reason: "enough" } });
      expect((await host().ends(source)).status).toBe("cancelled");
      const { runId } = await forked(source, { mode: "replay" });
      const run = await host().ends(runId);
      expect([run.status, run.error.code]).toEqual(["failed", "replay_source_missing"]);
      const failed = (await host().events(runId)).find(({ type }) => type === "node.failed");
      expect([failed?.nodeId, failed?.payload.error.code]).toEqual(["act", "replay_source_missing"]);
      expect(await host().types(runId)).not.toContain("run.cancelled");
    });

    test("of an effect that happened has its recorded outcome", async () => {
      const source = await ended("sleep-then-effect", { inputs: { delayMs: 1 } });
      const { runId } = await forked(source, { mode: "replay" });
      expect((await host().ends(runId)).status).toBe("completed");
      expect(await payloads(runId)).toEqual(await payloads(source));
    });
  });

  describe("a fork", () => {
    test("is refused with the statuses of the protocol", async () => {
      const source = await ended("noop");
      const statuses = async (body: unknown, runId = source) => (await forking(runId, body)).status;
      expect(await statuses({ mode: "replay", fromSeq: -1 })).toBe(400);
      expect(await statuses({ mode: "replay", fromSeq: 0.5 })).toBe(400);
      expect(await statuses({ mode: "branch" })).toBe(400);
      expect(await statuses({ mode: "replay", runOptionsOverlay: { tags: ["x"] } })).toBe(400);
      expect(await statuses({ mode: "neither" })).toBe(400);
      expect(await statuses({ mode: "replay", fromSeq: 100_000 })).toBe(422);
      expect(await statuses({ mode: "replay" }, NOBODY)).toBe(404);
    });

    test("in branch mode keeps its history and takes new options", async () => {
      const source = await ended("chain");
      const overlay = { tags: ["second-try"], configurable: { model: "other" } };
      const fork = await forked(source, { mode: "branch", fromSeq: 3, runOptionsOverlay: overlay });
      expect(fork).toMatchObject({ mode: "branch", fromSeq: 3 });
      const run = await host().ends(fork.runId);
      expect(run).toMatchObject({ status: "completed", tags: ["second-try"], configurable: { model: "other" } });
      expect(await payloads(fork.runId).then((all) => all.slice(0, 3))).toEqual((await payloads(source)).slice(0, 3));
    });

    test("starts without annotations", async () => {
      const source = await ended("noop");
      await host().ask("POST", `/v1/runs/${source}/annotations`, { body: { signal: { kind: "flag" } } });
      const { runId } = await forked(source, { mode: "replay" });
      expect((await host().ask("GET", `/v1/runs/${runId}/annotations`)).json.annotations).toEqual([]);
    });
  });

  describe("a diff", () => {
    const diff = (a: string, b: string) => host().ask("GET", `/v1/runs/${a}:diff?against=${b}`);

    test("of a run and itself, and of a run and its replay, is empty", async () => {
      const source = await ended("chain");
      const { runId } = await forked(source, { mode: "replay" });
      await host().ends(runId);
      for (const other of [source, runId]) {
        const { json } = await diff(source, other);
        expect(json).toMatchObject({ a: source, b: other, divergedAtSeq: null, eventDiffs: [], stateDiff: {} });
      }
    });

    test("of two different runs begins where they part, and is the same when asked again", async () => {
      const [a, b] = [
        await ended("echo", { inputs: { payload: { n: 1 } } }),
        await ended("echo", { inputs: { payload: { n: 2 } } }),
      ];
      const first = (await diff(a, b)).json;
      expect(first.eventDiffs[0].seq).toBe(first.divergedAtSeq);
      expect(first.eventDiffs.every(({ op }: { op: string }) => ["added", "removed", "changed"].includes(op))).toBe(
        true,
      );
      expect((await diff(a, b)).json).toEqual(first);
    });

    test("needs the other run, and both to exist", async () => {
      const run = await ended("noop");
      expect((await host().ask("GET", `/v1/runs/${run}:diff`)).status).toBe(400);
      expect(refusal(await diff(run, NOBODY))).toEqual([404, "not_found"]);
      expect(refusal(await diff(NOBODY, run))).toEqual([404, "not_found"]);
    });
  });
}
