import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { correlationIdOf } from "../../../src/formats/gates/gate-digest.ts";
import { ExternalEventHeld } from "../../../src/protocol/gates/api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { EventHost, newOrder, payment } from "../../../src/testing/external-events.ts";
import { expectError } from "../../../src/testing/host.ts";

describe.each(HTTP_STORES)("on %s", (_, open) => {
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

  describe("an external event that is held", () => {
    test("goes to the first run that waits for it, once, and keeps its first answer", async () => {
      const order = newOrder();
      const asked = payment(order, { holdSeconds: 60 });
      const answer = await events.send(asked);
      expect(answer.statusCode).toBe(202);
      expect(matches(ExternalEventHeld, answer.json())).toBe(true);
      const correlationId = correlationIdOf(order);
      expect(answer.json()).toMatchObject({ eventId: asked.eventId, correlationId, held: true });
      expect(await events.audited("external_event.held", correlationId)).toMatchObject([{ actor: "ada" }]);

      const first = await events.start(order);
      await events.completed(first);
      expect(await events.given(first)).toMatchObject({ resolvedBy: "ada", resumeValue: { amount: 12, ...order } });
      expect(await events.audited("external_event.delivered", first)).toMatchObject([{ actor: "ada" }]);

      const second = await events.waiting(order);
      const again = await events.send(asked);
      expect([again.statusCode, again.payload]).toEqual([202, answer.payload]);
      expect(again.headers["assay-event-replayed"]).toBe("true");
      await events.stillWaits(second);
    });

    test("is held once when it is sent twenty times at once", async () => {
      const order = newOrder();
      const asked = payment(order, { holdSeconds: 60 });
      const answers = await Promise.all(Array.from({ length: 20 }, () => events.send(asked)));
      expect(new Set(answers.map(({ statusCode, payload }) => `${statusCode} ${payload}`)).size).toBe(1);
      expect(await events.audited("external_event.held", correlationIdOf(order))).toHaveLength(1);
    });

    test("is told apart from others of its correlation, and these come in their order", async () => {
      const order = newOrder();
      for (const eventId of ["one", "two"]) await events.send(payment(order, { eventId, holdSeconds: 60 }));
      await events.send(payment(order, { eventId: "lost", eventType: "payment.lost", holdSeconds: 60 }));
      for (const eventId of ["one", "two"]) {
        const runId = await events.start(order);
        await events.completed(runId);
        expect(await events.given(runId)).toMatchObject({ resumeValue: { eventId } });
      }
      await events.stillWaits(await events.waiting(order));
    });

    test("goes to one node of a run where two wait", async () => {
      const order = newOrder();
      await events.send(payment(order, { holdSeconds: 60 }));
      const runId = await events.start(order, { id: "pair" });
      const answered = (run: { interrupts: object }) =>
        Object.values(run.interrupts).filter(({ status }) => status === "resolved").length;
      await events.gates.until(runId, (run) => answered(run) === 1);
      expect((await events.send(payment(order, { eventId: "another" }))).json().delivered).toHaveLength(1);
      await events.completed(runId);
    });

    test("is delivered at once when somebody waits already", async () => {
      const order = newOrder();
      await events.waiting(order);
      expect((await events.send(payment(order, { holdSeconds: 60 }))).statusCode).toBe(200);
    });

    test("waits for the next when those that waited are done", async () => {
      const order = newOrder();
      await events.gates.answer(await events.waiting(order), order, { node: "wait" });
      expect((await events.send(payment(order, { holdSeconds: 60 }))).statusCode).toBe(202);
      await events.completed(await events.start(order));
    });

    test("waits for the next when the time of those that waited is over", async () => {
      const order = newOrder();
      await events.waiting(order, { id: "timed" });
      events.pass(600_000);
      expect((await events.send(payment(order, { holdSeconds: 60 }))).statusCode).toBe(202);
      await events.completed(await events.start(order));
    });

    test("is not delivered when its own time is over", async () => {
      const order = newOrder();
      await events.send(payment(order, { holdSeconds: 2 }));
      events.pass(2000);
      const runId = await events.waiting(order);
      await events.stillWaits(runId);
      expect((await events.send(payment(order))).statusCode).toBe(200);
    });

    test("is remembered for its whole retention once it is delivered, however short it was to be held", async () => {
      const order = newOrder();
      const answer = await events.send(payment(order, { holdSeconds: 30 }));
      await events.completed(await events.start(order));
      events.pass(31_000);
      const runId = await events.waiting(order);
      const again = await events.send(payment(order));
      expect([again.statusCode, again.payload]).toEqual([202, answer.payload]);
      await events.stillWaits(runId);
    });

    test("passes by a run whose schema it does not meet", async () => {
      const order = newOrder();
      await events.send(payment(order, { payload: {}, holdSeconds: 60 }));
      const strict = await events.waiting(order, { id: "strict" });
      await events.completed(await events.start(order));
      await events.stillWaits(strict);
    });

    test("for one workspace is not given to another", async () => {
      const order = newOrder();
      await events.send(payment(order, { holdSeconds: 60 }), "east");
      const others = [await events.waiting(order, { as: "west" }), await events.waiting(order)];
      await events.completed(await events.start(order, { as: "east" }));
      for (const runId of others) await events.stillWaits(runId);
    });

    test("for one tenant is not given to another", async () => {
      const order = newOrder();
      await events.send(payment(order, { holdSeconds: 60 }), "other");
      const mine = await events.waiting(order);
      const theirs = await events.start(order, { as: "other" });
      await events.gates.until(theirs, ({ status }) => status === "completed", "t2");
      await events.stillWaits(mine);
    });
  });

  describe("the sender of an external event", () => {
    test("reaches no other tenant and no other workspace", async () => {
      const order = newOrder();
      const [theirs, east] = [
        await events.waiting(order, { as: "other" }),
        await events.waiting(order, { as: "east" }),
      ];
      expectError(await events.send(payment(order), "west"), "interrupt_not_found");
      expect((await events.send(payment(order), "east")).json().delivered).toMatchObject([{ runId: east }]);
      // The same event from elsewhere is another event: nobody is shown what was answered to others.
      expectError(await events.send(payment(order), "west"), "interrupt_not_found");
      expect((await events.send(payment(order), "other")).json().delivered).toMatchObject([{ runId: theirs }]);
    });

    test("with a key for the whole tenant reaches all of its workspaces", async () => {
      const order = newOrder();
      const runs = [];
      for (const as of ["east", "west", "owner"] as const) runs.push(await events.waiting(order, { as }));
      const { delivered } = (await events.send(payment(order))).json();
      expect(delivered.map(({ runId }: { runId: string }) => runId).sort()).toEqual(runs.sort());
    });

    test("needs the scope to respond", async () => {
      const order = newOrder();
      const runId = await events.waiting(order);
      for (const as of ["viewer", "narrow", "stranger"] as const) {
        expectError(await events.send(payment(order, { holdSeconds: 5 }), as), "forbidden");
      }
      await events.stillWaits(runId);
    });
  });
});
