import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";

const OFFERED = ["accept", "reject", "refine", "edit-accept", "ask"];

/** A gate that one person decides. */
export function approvalScenarios(host: () => OutsideHost): void {
  describe("an approval", () => {
    test("holds its run, says so in the snapshot, and lets it go on when accepted", async () => {
      const runId = await host().waits("approval");
      const waiting = (await host().ask("GET", `/v1/runs/${runId}`)).json;
      expect(waiting).toMatchObject({
        status: "waiting-approval",
        currentNodeId: "gate",
        interrupt: { kind: "approval", nodeId: "gate", data: { title: "Ship it?" } },
      });
      const answer = await host().answer(runId, { action: "accept" });
      expect([answer.status, answer.json.runId, answer.json.nodeId]).toEqual([200, runId, "gate"]);
      const run = await host().ends(runId);
      expect(run.status).toBe("completed");
      expect(run.interrupt).toBeUndefined();
      expect(run.currentNodeId).toBeUndefined();
    });

    test("is asked and decided in the order that the protocol gives", async () => {
      const runId = await host().waits("approval");
      expect(await host().types(runId)).toEqual([
        "run.started",
        "node.started",
        "interrupt.requested",
        "approval.requested",
        "node.suspended",
      ]);
      await host().answer(runId, { action: "accept" });
      await host().ends(runId);
      const told = (await host().types(runId)).filter((type) => !type.startsWith("assay."));
      expect(told.slice(5)).toEqual([
        "approval.received",
        "interrupt.resolved",
        "node.resumed",
        "node.completed",
        "node.started",
        "node.completed",
        "run.completed",
      ]);
    });

    test.each(["approval", "approval-bare"])("of %s has every field a reader may count on", async (workflowId) => {
      const runId = await host().waits(workflowId);
      const [payload] = await host().payloads(runId, "interrupt.requested");
      expect(payload).toMatchObject({ kind: "approval", runId, nodeId: "gate" });
      expect(payload.interruptId).toEqual(expect.any(String));
      expect(Date.parse(payload.requestedAt)).not.toBeNaN();
      expect(payload.key.length).toBeGreaterThan(0);
      expect(payload.key.length).toBeLessThanOrEqual(256);
      for (const name of ["artifactId", "artifactType", "title"]) {
        expect(payload.data[name], name).toEqual(expect.stringMatching(/./));
      }
      expect(payload.data.actions.length).toBeGreaterThan(0);
      expect(new Set(payload.data.actions).size).toBe(payload.data.actions.length);
      expect(OFFERED).toEqual(expect.arrayContaining(payload.data.actions));
      const [suspended] = await host().payloads(runId, "node.suspended");
      expect(suspended).toMatchObject({ nodeId: "gate", interruptId: payload.interruptId, key: payload.key });
    });

    test("names who decided it, without being told", async () => {
      const runId = await host().waits("approval");
      await host().answer(runId, { action: "accept" });
      await host().ends(runId);
      expect(await host().payloads(runId, "approval.received")).toEqual([
        expect.objectContaining({ nodeId: "gate", action: "accept", decidedBy: "owner" }),
      ]);
      expect(await host().payloads(runId, "interrupt.resolved")).toEqual([
        expect.objectContaining({ nodeId: "gate", kind: "approval", resolvedBy: "owner" }),
      ]);
    });

    test("that is rejected ends its run, and nothing behind the gate happens", async () => {
      const runId = await host().waits("approval");
      expect((await host().answer(runId, { action: "reject", feedback: "not yet" })).status).toBe(200);
      expect(await host().ends(runId)).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
      const started = (await host().events(runId)).filter((event) => event.type === "node.started");
      expect(started.map((event) => event.nodeId)).toEqual(["gate"]);
    });

    test("can be sent back for refinement, with what is to be refined", async () => {
      const runId = await host().waits("approval-refine");
      const refineFeedback = { scope: "section", sectionPath: "/intro", text: "shorter" };
      expect((await host().answer(runId, { action: "refine", refineFeedback })).status).toBe(200);
      await host().ends(runId);
      const [resolved] = await host().payloads(runId, "interrupt.resolved");
      expect(resolved.resumeValue).toMatchObject({ action: "refine", refineFeedback });
      expect(await host().payloads(runId, "approval.received")).toMatchObject([{ action: "refine", refineFeedback }]);
    });

    test("can be accepted with changes, and the changes are what was accepted", async () => {
      const runId = await host().waits("approval-edit-accept");
      const editedArtifactData = { text: "final" };
      expect((await host().answer(runId, { action: "edit-accept", editedArtifactData })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      const [resolved] = await host().payloads(runId, "interrupt.resolved");
      expect(resolved.resumeValue).toMatchObject({ action: "edit-accept", editedArtifactData });
    });

    test("takes questions without being decided by them", async () => {
      const runId = await host().waits("approval-refine");
      expect((await host().answer(runId, { action: "ask", question: "Why now?" })).status).toBe(200);
      const { status, interrupt } = await host().reaches(runId, "waiting-approval");
      expect([status, interrupt.remarks[0].text]).toEqual(["waiting-approval", "Why now?"]);
      expect((await host().answer(runId, { action: "accept" })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
    });

    test.each([
      ["nothing", "approval", null],
      ["no action", "approval", {}],
      ["an unknown action", "approval", { action: "perhaps" }],
      ["an action that this gate does not offer", "approval", { action: "refine", refineFeedback: { scope: "whole" } }],
      ["refine without its feedback", "approval-refine", { action: "refine" }],
      ["refine without a scope", "approval-refine", { action: "refine", refineFeedback: { text: "shorter" } }],
      ["edit-accept without the edit", "approval-edit-accept", { action: "edit-accept" }],
    ])("refuses %s and still waits", async (_, workflowId, value) => {
      const runId = await host().waits(workflowId);
      expect(refusal(await host().answer(runId, value))).toEqual([400, "validation_error"]);
      expect((await host().ask("GET", `/v1/runs/${runId}`)).json.status).toBe("waiting-approval");
      expect(await host().payloads(runId, "interrupt.resolved")).toEqual([]);
    });

    test("that nobody gives in time is a rejection", async () => {
      const runId = await host().begin("approval-short");
      expect((await host().ends(runId)).status).toBe("failed");
      expect(await host().payloads(runId, "interrupt.resolved")).toMatchObject([
        { outcome: "rejected", reason: "timeout" },
      ]);
      expect(await host().payloads(runId, "approval.received")).toMatchObject([{ action: "timeout" }]);
      expect(refusal(await host().answer(runId, { action: "accept" }))).toEqual([409, "interrupt_already_resolved"]);
    });

    test("keeps no secret that somebody writes into it", async () => {
      const runId = await host().waits("approval");
      const secret = "sk-live-0123456789abcdef0123456789abcdef";
      await host().answer(runId, { action: "accept", feedback: `the key is ${secret}` });
      await host().ends(runId);
      expect(JSON.stringify(await host().events(runId))).not.toContain(secret);
      expect((await host().ask("GET", `/v1/runs/${runId}`)).text).not.toContain(secret);
    });

    test("is answered once under one idempotency key", async () => {
      const runId = await host().waits("approval");
      const headers = { "idempotency-key": `answer-${runId}` };
      const first = await host().answer(runId, { action: "accept" }, { headers });
      const again = await host().answer(runId, { action: "accept" }, { headers });
      expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
      expect(await host().payloads(runId, "interrupt.resolved")).toHaveLength(1);
    });
  });
}
