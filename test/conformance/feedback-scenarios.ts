import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OutsideHost, refusal } from "./host.ts";
import { OWNER, READER, ROB, STRANGER } from "./keys.ts";

const SIGNALS = ["rating", "correction", "label", "flag"];
const TARGETS = ["run", "event", "node"];
const CANARY = "sk-canary-rfc0056-do-not-leak-abc123";
const RATING = { signal: { kind: "rating", rating: 4 } };

/** Judgments on runs, while they go on and afterwards. */
export function feedbackScenarios(host: () => OutsideHost): void {
  const annotate = (runId: string, body: unknown, key = OWNER) =>
    host().ask("POST", `/v1/runs/${runId}/annotations`, { key, body });
  const list = (runId: string, key = OWNER) => host().ask("GET", `/v1/runs/${runId}/annotations`, { key });
  const finished = async (workflowId = "noop") => {
    const runId = await host().begin(workflowId);
    await host().ends(runId);
    return runId;
  };

  describe("feedback", () => {
    test("is advertised with what it really takes", async () => {
      const { json } = await host().ask("GET", "/.well-known/openwop", { key: "" });
      expect(json.feedback.supported).toBe(true);
      expect(json.feedback.targets).toEqual(expect.arrayContaining(TARGETS));
      expect(json.feedback.signals).toEqual(expect.arrayContaining(SIGNALS));
      const runId = await finished();
      const [event] = await host().events(runId);
      const targets = [{}, { eventId: event.eventId }, { nodeId: "noop" }];
      for (const target of targets) expect((await annotate(runId, { ...RATING, target })).status).toBe(201);
    });

    test("is recorded with what the host adds, and listed oldest first", async () => {
      const runId = await host().waits("approval");
      const bodies = [
        { ...RATING, note: "clear" },
        { signal: { kind: "correction", correction: "42" }, target: { nodeId: "gate" } },
        { signal: { kind: "label", label: "off-topic" } },
        { signal: { kind: "flag" } },
      ];
      const stored = [];
      for (const body of bodies) {
        const { status, json } = await annotate(runId, body, ROB);
        expect(status).toBe(201);
        const { annotationId, createdAt, ...rest } = json;
        expect(annotationId).toEqual(expect.any(String));
        expect(new Date(createdAt).toISOString()).toBe(createdAt);
        const target = { runId, ...("target" in body ? body.target : {}) };
        expect(rest).toEqual({ ...body, target, actor: { principalRef: "rob" } });
        stored.push(json);
      }
      const listed = await list(runId, READER);
      expect([listed.status, listed.json]).toEqual([200, { annotations: stored }]);
      expect((await host().types(runId)).filter((type) => type.includes("annot"))).toEqual([]);
      for (const method of ["PUT", "PATCH", "DELETE"]) {
        expect((await host().ask(method, `/v1/runs/${runId}/annotations`, { body: {} })).status).toBe(405);
      }
      await host().ask("POST", `/v1/runs/${runId}/cancel`, { body: {} });
    });

    test.each([
      ["no signal", {}],
      ["an unknown signal", { signal: { kind: "applause" } }],
      ["a rating of 6", { signal: { kind: "rating", rating: 6 } }],
      ["a rating without a number", { signal: { kind: "rating" } }],
      ["an actor of the client's choice", { ...RATING, actor: { principalRef: "the boss" } }],
      ["a run of the client's choice", { ...RATING, target: { runId: "run-x" } }],
      ["an event that is not of the run", { ...RATING, target: { eventId: "evt-x" } }],
      ["a node that is not of the run", { ...RATING, target: { nodeId: "x" } }],
    ])("refuses %s", async (_, body) => {
      const runId = await finished();
      expect(refusal(await annotate(runId, body))).toEqual([400, "validation_error"]);
      expect((await list(runId)).json).toEqual({ annotations: [] });
    });

    test.each(["completed", "failed", "cancelled"])("is taken on a run that is %s", async (status) => {
      const runId =
        status === "cancelled"
          ? await host().waits("approval")
          : await host().begin(status === "failed" ? "failing" : "noop");
      if (status === "cancelled") await host().ask("POST", `/v1/runs/${runId}/cancel`, { body: {} });
      expect((await host().ends(runId)).status).toBe(status);
      const before = await host().events(runId);
      expect((await annotate(runId, RATING)).status).toBe(201);
      expect((await list(runId)).json.annotations).toHaveLength(1);
      expect(await host().events(runId)).toEqual(before);
    });

    test("stays within its tenant", async () => {
      const runId = await finished();
      await annotate(runId, RATING);
      for (const answer of [await list(runId, STRANGER), await annotate(runId, RATING, STRANGER)]) {
        expect(answer.status).toBeGreaterThanOrEqual(403);
        expect(answer.status).toBeLessThanOrEqual(404);
        expect(answer.text).not.toContain("annotationId");
      }
      expect((await list(runId)).json.annotations).toHaveLength(1);
    });

    test("is stored without what looks like a secret", async () => {
      const runId = await finished();
      const signal = { kind: "correction", correction: `it should be ${CANARY}` };
      const made = await annotate(runId, { signal, note: `I used ${CANARY}.` });
      expect(made.status).toBe(201);
      const listed = await list(runId);
      for (const { text } of [made, listed]) {
        expect(text).not.toContain(CANARY);
        expect(text).not.toContain("do-not-leak");
        expect(text).toContain("it should be ");
      }
      expect(listed.json.annotations).toEqual([made.json]);
    });

    test("is not copied to a fork, in either mode", async () => {
      const runId = await finished("chain");
      await annotate(runId, RATING);
      for (const mode of ["replay", "branch"]) {
        const forked = await host().ask("POST", `/v1/runs/${runId}:fork`, { body: { mode, fromSeq: 0 } });
        expect([forked.status, mode]).toEqual([201, mode]);
        const fork = forked.json.runId;
        expect(fork).not.toBe(runId);
        expect((await list(fork)).json).toEqual({ annotations: [] });
      }
      expect((await list(runId)).json.annotations).toHaveLength(1);
    });
  });
}

/** The same routes on a host that does not serve them. */
export function feedbackOffScenarios(database: () => Promise<readonly string[]>): void {
  describe("feedback that is switched off", () => {
    let host: OutsideHost;
    beforeAll(async () => {
      host = await OutsideHost.start(await database(), ["--disable", "feedback"]);
    }, 60_000);
    afterAll(() => host.stop());

    test("is not advertised, and is 501 before the run or the body is looked at", async () => {
      const { json } = await host.ask("GET", "/.well-known/openwop", { key: "" });
      expect(json.feedback?.supported ?? false).toBe(false);
      const runId = await host.begin("noop");
      for (const id of [runId, "run-unknown"]) {
        const path = `/v1/runs/${id}/annotations`;
        expect(refusal(await host.ask("GET", path))).toEqual([501, "capability_not_provided"]);
        expect(refusal(await host.ask("POST", path, { body: RATING }))).toEqual([501, "capability_not_provided"]);
        expect(refusal(await host.ask("POST", path, { body: "{" }))).toEqual([501, "capability_not_provided"]);
        expect(refusal(await host.ask("GET", path, { key: "" }))).toEqual([401, "unauthenticated"]);
      }
    });
  });
}
