import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { correlationIdOf } from "../../../src/formats/gates/gate-digest.ts";
import { MASK } from "../../../src/protocol/events.ts";
import { ExternalEventDelivered } from "../../../src/protocol/gates/api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { EventHost, newOrder, payment } from "../../../src/testing/external-events.ts";
import { expectError } from "../../../src/testing/host.ts";

describe.each(HTTP_STORES)("an external event over HTTP on %s", (_, open) => {
  let events: EventHost;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    events = await EventHost.start(opened.store);
  });
  afterAll(async () => {
    await events.host.close();
    await drop();
  });

  describe("that a run waits for", () => {
    test("resolves the interrupt, and the run goes on with what it says", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const { interruptId } = await events.gates.interrupt(runId);
      const answer = await events.send(payment(order, { eventId: "e1" }));
      expect(answer.statusCode).toBe(200);
      expect(matches(ExternalEventDelivered, answer.json())).toBe(true);
      expect(answer.headers).not.toHaveProperty("assay-event-replayed");
      const correlationId = correlationIdOf(order);
      const delivered = [{ runId, nodeId: "wait", interruptId, status: "running" }];
      expect(answer.json()).toEqual({ eventId: "e1", correlationId, delivered });
      await events.completed(runId);
      expect(await events.given(runId)).toMatchObject({
        outcome: "answered",
        resolvedBy: "ada",
        resumeValue: { amount: 12, eventId: "e1", eventType: "payment.settled", ...order },
      });
      const details = { eventId: "e1", eventType: "payment.settled", interruptId, correlationId };
      expect(await events.audited("external_event.delivered", runId)).toMatchObject([{ actor: "ada", details }]);
    });

    test("is taken by the id of its correlation, as the run shows it, and counts once by either name", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const { correlationId } = await events.gates.interrupt(runId);
      const { correlation, ...byId } = { ...payment(order), correlationId };
      const answer = await events.send(byId);
      expect([answer.statusCode, answer.json().correlationId]).toEqual([200, correlationIdOf(order)]);
      await events.completed(runId);
      expect(await events.given(runId)).toMatchObject({ resumeValue: { amount: 12, ...order } });
      const again = await events.send({ ...byId, correlationId: undefined, correlation });
      expect([again.payload, again.headers["assay-event-replayed"]]).toEqual([answer.payload, "true"]);
    });

    test("and is sent by the id of its correlation may not contradict the correlation", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const { correlation: _, ...event } = payment(order, { correlationId: correlationIdOf(order) });
      expectError(await events.send({ ...event, payload: { orderId: "another" } }), "correlation_mismatch");
      await events.stillWaits(runId);
    });

    test("needs a correlation or its id, and not both", async () => {
      const order = newOrder();
      const { correlation: _, ...neither } = payment(order);
      const both = payment(order, { correlationId: correlationIdOf(order) });
      for (const event of [neither, both, { ...neither, correlationId: "order 7" }]) {
        expectError(await events.send(event), "validation_error");
      }
    });

    test.each([[["a", 1]], ["text"], [null], [7]])("may say %j, which the run gets as its payload", async (payload) => {
      const order = newOrder();
      const runId = await events.waiting(order);
      expect((await events.send(payment(order, { payload }))).statusCode).toBe(200);
      expect(await events.given(runId)).toMatchObject({ resumeValue: { payload, ...order } });
    });

    test("cannot rename itself in its payload", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      await events.send(payment(order, { eventId: "true", payload: { eventId: "false", eventType: "false" } }));
      expect(await events.given(runId)).toMatchObject({
        resumeValue: { eventId: "true", eventType: "payment.settled" },
      });
    });

    test("is matched by what the run waits for even where that is called eventId", async () => {
      const correlation = { eventId: `of order ${newOrder().orderId}` };
      const runId = await events.waiting(correlation);
      expect((await events.send(payment(correlation, { eventId: "its own" }))).statusCode).toBe(200);
      expect(await events.given(runId)).toMatchObject({ resumeValue: correlation });
    });

    test("finds it whatever the order in which the correlation is written", async () => {
      const { orderId } = newOrder();
      const runId = await events.waiting({ orderId, at: { a: 1, b: [2] } });
      expect((await events.send(payment({ at: { b: [2], a: 1 }, orderId }))).statusCode).toBe(200);
      await events.completed(runId);
    });

    test("goes to all runs and all nodes that wait for it, and to no others", async () => {
      const order = newOrder();
      const [one, two] = [await events.waiting(order), await events.waiting(order, { id: "pair" })];
      const other = await events.waiting(newOrder());
      const { delivered } = (await events.send(payment(order))).json();
      const pairs = delivered.map((each: { runId: string; nodeId: string }) => `${each.runId} ${each.nodeId}`);
      expect(pairs.sort()).toEqual([`${one} wait`, `${two} also`, `${two} wait`].sort());
      await Promise.all([events.completed(one), events.completed(two)]);
      await events.stillWaits(other);
    });

    test("goes to a parent and both of its children in one commit", async () => {
      const order = newOrder();
      const runId = await events.family(order);
      expect((await events.send(payment(order))).json().delivered).toHaveLength(3);
      await events.completed(runId);
    });

    test("resolves an interrupt that tokens do not, since its sender has a key", async () => {
      const order = newOrder();
      const runId = await events.waiting(order, { id: "guarded" });
      expect((await events.send(payment(order))).statusCode).toBe(200);
      await events.completed(runId);
    });

    test("is shown without the secrets it carries, which the node that waits gets", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const secret = "sk-canary-in-an-external-event-0001";
      await events.send(payment(order, { payload: { note: `use ${secret}` } }));
      const run = await events.completed(runId);
      expect(run.nodes["wait"]?.outputs).toMatchObject({ note: `use ${secret}` });
      expect(await events.given(runId)).toMatchObject({ resumeValue: { note: `use ${MASK}` } });
      const key = { tenant: "t1", workspace: "", correlationId: correlationIdOf(order) };
      const stored = await events.host.store.readExternalEvent({ ...key, eventId: payment(order).eventId });
      expect(stored).toMatchObject({ state: "delivered", payload: "{}" });
      const shown = [stored, await events.gates.snapshot(runId), await events.gates.events(runId)];
      expect(JSON.stringify(shown)).not.toContain(secret);
    });
  });

  describe("that is sent again", () => {
    test("gets its first answer byte for byte, whatever else it says by now", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const first = await events.send(payment(order));
      await events.completed(runId);
      const changes = [{}, { payload: { amount: 99 } }, { eventType: "payment.lost" }, { holdSeconds: 9 }];
      for (const change of changes) {
        const again = await events.send(payment(order, change));
        expect([again.statusCode, again.payload]).toEqual([200, first.payload]);
        expect(again.headers["assay-event-replayed"]).toBe("true");
      }
    });

    test("is not given to a run that waits only now", async () => {
      const order = newOrder();
      const first = await events.waiting(order);
      await events.send(payment(order));
      await events.completed(first);
      const second = await events.waiting(order);
      expect((await events.send(payment(order))).headers["assay-event-replayed"]).toBe("true");
      await events.stillWaits(second);
      expect((await events.send(payment(order, { eventId: "another" }))).statusCode).toBe(200);
      await events.completed(second);
    });

    test("twenty times at once is delivered once, and all get the same answer", async () => {
      const order = newOrder();
      const [one, pair] = [await events.waiting(order), await events.waiting(order, { id: "pair" })];
      const answers = await Promise.all(Array.from({ length: 20 }, () => events.send(payment(order))));
      expect(new Set(answers.map(({ statusCode, payload }) => `${statusCode} ${payload}`)).size).toBe(1);
      expect(answers[0]?.json().delivered).toHaveLength(3);
      expect(answers.filter(({ headers }) => headers["assay-event-replayed"] === undefined)).toHaveLength(1);
      await Promise.all([events.completed(one), events.completed(pair)]);
      expect(await events.gates.events(one, "interrupt.resolved")).toHaveLength(1);
      expect(await events.gates.events(pair, "interrupt.resolved")).toHaveLength(2);
      expect(await events.audited("external_event.delivered", one)).toHaveLength(1);
    });

    test("counts as new once its retention is over", async () => {
      const order = newOrder();
      const first = await events.waiting(order);
      await events.send(payment(order));
      await events.completed(first);
      const second = await events.waiting(order);
      events.pass(3_600_000);
      expect((await events.send(payment(order))).json().delivered).toMatchObject([{ runId: second }]);
    });

    test("under an idempotency key gets the answer of that key", async () => {
      const order = newOrder();
      await events.waiting(order);
      const headers = { "idempotency-key": `event-${order.orderId}` };
      const first = await events.send(payment(order), "owner", headers);
      const again = await events.send(payment(order), "owner", headers);
      expect(again.payload).toBe(first.payload);
      expect(again.headers["openwop-idempotent-replay"]).toBe("true");
      expect(again.headers).not.toHaveProperty("assay-event-replayed");
      const mismatch = await events.send(payment(order, { payload: 1 }), "owner", headers);
      expectError(mismatch, "idempotency_key_mismatch");
      const other = { "idempotency-key": `event-${order.orderId}-again` };
      for (const replayed of [undefined, "true"]) {
        const answer = await events.send(payment(order), "owner", other);
        expect(answer.payload).toBe(first.payload);
        expect(answer.headers["assay-event-replayed"]).toBe("true");
        expect(answer.headers["openwop-idempotent-replay"]).toBe(replayed);
      }
    });
  });

  describe("that nothing waits for", () => {
    test("is not found, and leaves nothing behind", async () => {
      const order = newOrder();
      expectError(await events.send(payment(order)), "interrupt_not_found");
      const runId = await events.waiting(order);
      expectError(await events.send(payment(order, { eventType: "payment.lost" })), "interrupt_not_found");
      await events.stillWaits(runId);
      expect((await events.send(payment(order))).statusCode).toBe(200);
    });

    test("any more says how the newest of those that did has ended", async () => {
      const order = newOrder();
      const [older, newer] = [await events.waiting(order, { id: "timed" }), await events.waiting(order)];
      await events.gates.answer(newer, order, { node: "wait" });
      events.pass(600_000);
      await events.gates.until(older, ({ status }) => status === "failed");
      expectError(await events.send(payment(order)), "interrupt_already_resolved");
    });

    test("because its time is over is told so", async () => {
      const order = newOrder();
      const runId = await events.waiting(order, { id: "timed" });
      events.pass(600_000);
      expectError(await events.send(payment(order)), "interrupt_expired");
      expect((await events.gates.interrupt(runId)).status).toBe("expired");
      expectError(await events.send(payment(order, { eventId: "later" })), "interrupt_expired");
    });

    test("because the run was cancelled is refused as the run's own routes refuse it", async () => {
      const cancel = (runId: string) => events.host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
      const order = newOrder();
      await cancel(await events.waiting(order));
      expectError(await events.send(payment(order)), "interrupt_cancelled");
    });

    test("because its run ended with its parent is gone", async () => {
      const order = newOrder();
      const parent = await events.family(order);
      // The parent's own wait is over, and those of the children are newer.
      await events.host.ask("POST", `/v1/runs/${parent}/cancel`, { json: {} });
      expectError(await events.send(payment(order)), "interrupt_gone");
    });
  });

  describe("that cannot be taken", () => {
    test("for its schema is refused, and nobody gets it", async () => {
      const order = newOrder();
      const [strict, easy] = [await events.waiting(order, { id: "strict" }), await events.waiting(order)];
      const refused = await events.send(payment(order, { payload: { amount: "twelve" } }));
      expect(expectError(refused, "validation_error")).toMatchObject({ runId: strict, nodeId: "wait" });
      await events.stillWaits(strict);
      await events.stillWaits(easy);
      expect((await events.send(payment(order))).json().delivered).toHaveLength(2);
    });

    test("for contradicting its own correlation is refused", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const two = payment(order, { payload: { orderId: order.orderId + 1 } });
      expect(expectError(await events.send(two), "correlation_mismatch")).toEqual({ members: ["orderId"] });
      expectError(await events.send({ ...two, holdSeconds: 5 }), "correlation_mismatch");
      await events.stillWaits(runId);
      expect((await events.send({ ...two, payload: { ...order, amount: 1 } })).statusCode).toBe(200);
    });

    test.each([
      ["an empty id", { eventId: "" }],
      ["too long an id", { eventId: "x".repeat(257) }],
      ["a number as its id", { eventId: 7 }],
      ["a credential as its id", { eventId: "sk-canary-as-the-id-of-an-event" }],
      ["an empty type", { eventType: "" }],
      ["a credential as its type", { eventType: "sk-canary-as-the-type-of-an-event" }],
      ["an empty correlation", { correlation: {} }],
      ["a list as its correlation", { correlation: [1] }],
      ["a text as its correlation", { correlation: "order" }],
      ["no correlation", { correlation: undefined }],
      ["no payload", { payload: undefined }],
      ["no time to be held", { holdSeconds: 0 }],
      ["half a second to be held", { holdSeconds: 1.5 }],
      ["more time to be held than the host gives", { holdSeconds: 3601 }],
      ["something else", { more: 1 }],
    ])("for having %s is refused", async (_what, wrong) => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const details = expectError(await events.send({ ...payment(order), ...wrong }), "validation_error");
      expect(JSON.stringify(details)).not.toContain("sk-canary");
      await events.stillWaits(runId);
    });
  });

  describe("given to the run itself", () => {
    test("must match what the run waits for; what else it says does not matter", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const answer = (value: unknown) => events.gates.answer(runId, value, { node: "wait" });
      for (const wrong of [{}, { orderId: "0" }, { orderId: -1, more: 1 }, "text", [order]]) {
        expectError(await answer(wrong), "correlation_mismatch");
      }
      await events.stillWaits(runId);
      expect((await answer({ ...order, more: 1 })).statusCode).toBe(200);
      await events.completed(runId);
    });

    test("by its token must match as well", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      const token = await events.gates.token(runId);
      expectError(await events.gates.byToken(token, { orderId: -1 }), "correlation_mismatch");
      await events.stillWaits(runId);
      expect((await events.gates.byToken(token, { ...order, more: 1 })).statusCode).toBe(200);
      await events.completed(runId);
      expectError(await events.send(payment(order)), "interrupt_already_resolved");
    });

    test("can be found by the correlation id that the snapshot shows", async () => {
      const order = newOrder();
      const snapshot = await events.gates.snapshot(await events.waiting(order));
      expect(JSON.stringify(snapshot)).toContain(correlationIdOf(order));
    });
  });
});
