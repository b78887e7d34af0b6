import { describe, expect, test } from "vitest";
import { type OutsideHost, refusal } from "./host.ts";
import { READER, STRANGER } from "./keys.ts";

const EVENTS = "/v1/host/assay/external-events";
const ORDER = { orderId: "order-1", status: "completed" };

/** Runs that wait for words or for the outside world. */
export function waitingScenarios(host: () => OutsideHost): void {
  describe("a clarification", () => {
    test("asks, takes the answer, and goes on with it", async () => {
      const runId = await host().waits("clarification");
      const { status, currentNodeId, interrupt } = (await host().ask("GET", `/v1/runs/${runId}`)).json;
      expect([status, currentNodeId, interrupt.kind]).toEqual(["waiting-input", "ask", "clarification"]);
      expect(interrupt.data.questions).toMatchObject([{ id: "q1", question: "Which colour?" }]);
      expect((await host().answer(runId, { answers: { q1: "blue" } }, { node: "ask" })).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      const types = await host().types(runId);
      expect(types.indexOf("clarification.requested")).toBe(types.indexOf("interrupt.requested") + 1);
      expect(types.indexOf("clarification.resolved")).toBe(types.indexOf("interrupt.resolved") - 1);
      expect(await host().payloads(runId, "clarification.resolved")).toMatchObject([{ answers: { q1: "blue" } }]);
    });

    test("takes a list of answers as well", async () => {
      const runId = await host().waits("clarification");
      const answers = [{ id: "q1", answer: "green" }];
      expect((await host().answer(runId, { answers }, { node: "ask" })).status).toBe(200);
      await host().ends(runId);
      expect(await host().payloads(runId, "clarification.resolved")).toMatchObject([{ answers: { q1: "green" } }]);
    });

    test.each([
      ["no answer", { answers: {} }],
      ["an answer of another kind than asked for", { answers: { q1: 7 } }],
      ["an answer that nobody asked for", { answers: { q1: "blue", q2: "red" } }],
      ["no answers at all", "blue"],
    ])("refuses %s and still waits", async (_, value) => {
      const runId = await host().waits("clarification");
      expect(refusal(await host().answer(runId, value, { node: "ask" }))).toEqual([400, "validation_error"]);
      expect((await host().ask("GET", `/v1/runs/${runId}`)).json.status).toBe("waiting-input");
    });
  });

  describe("a wait for an external event", () => {
    const node = "wait-for-external";

    test("shows where the event goes, takes the one that correlates, and records it", async () => {
      const runId = await host().waits("external-event");
      const { status, interrupt } = (await host().ask("GET", `/v1/runs/${runId}`)).json;
      expect([status, interrupt.kind, interrupt.nodeId]).toEqual(["waiting-external", "external-event", node]);
      expect(interrupt.callbackUrl).toContain(interrupt.interruptToken);
      for (const wrong of [{ ...ORDER, status: "open" }, { orderId: "order-1" }, {}, "order-1", null]) {
        expect(refusal(await host().byToken(interrupt.interruptToken, wrong))).toEqual([422, "correlation_mismatch"]);
        expect(refusal(await host().answer(runId, wrong, { node }))).toEqual([422, "correlation_mismatch"]);
      }
      expect((await host().ask("GET", `/v1/runs/${runId}`)).json.status).toBe("waiting-external");
      const event = { ...ORDER, total: 12.5 };
      expect((await host().byToken(interrupt.interruptToken, event)).status).toBe(200);
      expect((await host().ends(runId)).status).toBe("completed");
      expect(await host().payloads(runId, "interrupt.resolved")).toMatchObject([{ resumeValue: event }]);
    });

    test("is met through the front door, once, however often the event is sent", async () => {
      const runId = await host().waits("external-event");
      const body = { eventType: "order.changed", eventId: `evt-${runId}`, correlation: ORDER, payload: { ...ORDER } };
      const first = await host().ask("POST", EVENTS, { body });
      expect(first.status).toBe(200);
      expect(first.json.delivered.map((one: { runId: string }) => one.runId)).toContain(runId);
      expect((await host().ends(runId)).status).toBe("completed");
      const again = await host().ask("POST", EVENTS, { body });
      expect([again.status, again.text]).toEqual([200, first.text]);
      expect(await host().payloads(runId, "interrupt.resolved")).toHaveLength(1);
      const late = await host().ask("POST", EVENTS, { body: { ...body, eventId: `late-${runId}` } });
      expect(refusal(late)).toEqual([409, "interrupt_already_resolved"]);
    });

    test("is met by an event that came before it, if that was to be kept", async () => {
      const correlation = { orderId: "order-early" };
      const body = { eventType: "order.changed", eventId: "early-1", correlation, payload: correlation };
      expect(refusal(await host().ask("POST", EVENTS, { body }))).toEqual([404, "interrupt_not_found"]);
      const kept = await host().ask("POST", EVENTS, { body: { ...body, holdSeconds: 60 } });
      expect([kept.status, kept.json.held]).toEqual([202, true]);
      const runId = await host().begin("external-event-early");
      expect((await host().ends(runId)).status).toBe("completed");
    });

    test("is nobody's but its tenant's", async () => {
      const runId = await host().waits("external-event");
      const body = { eventType: "order.changed", eventId: `foreign-${runId}`, correlation: ORDER, payload: ORDER };
      const foreign = await host().ask("POST", EVENTS, { body, key: STRANGER });
      expect(refusal(foreign)).toEqual([404, "interrupt_not_found"]);
      expect(refusal(await host().ask("POST", EVENTS, { body, key: READER }))).toEqual([403, "forbidden"]);
      expect((await host().ask("GET", `/v1/runs/${runId}`)).json.status).toBe("waiting-external");
    });
  });
}
