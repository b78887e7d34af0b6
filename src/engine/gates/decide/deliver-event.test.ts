import { describe, expect, test } from "vitest";
import type { Run } from "../../../protocol/runs/run.ts";
import { type Built, NOW, next } from "../../../testing/builders.ts";
import {
  type Asked,
  interruptRequested,
  interruptResolved,
  openGate,
  runCancelled,
} from "../../../testing/gate-builders.ts";
import { deliverEvent, type ExternalEvent, giveHeldEvent, requireConsistent } from "./deliver-event.ts";

const event: ExternalEvent = {
  eventId: "e1",
  eventType: "payment.settled",
  correlationId: "c",
  payload: { amount: 12 },
  by: "ada",
};

const wait = {
  kind: "external-event",
  correlationId: "c",
  data: { eventType: "payment.settled", correlation: { orderId: 7 } },
} as const;

/** A run that waits since the given minute. */
function waitingSince(minute: number, asked: Asked = {}) {
  return openGate({ tenant: "t1" }, { ...wait, atMs: NOW + minute * 60_000, ...asked });
}

const LATER = NOW + 3_600_000;

const idsOf = (changes: readonly { readonly interrupt: { readonly interruptId: string } }[]) =>
  changes.map(({ interrupt }) => interrupt.interruptId);

function codeOf(runs: readonly Run[]): string | undefined {
  return deliverEvent(runs, event, LATER).refusal?.code;
}

describe("an event that several runs wait for, or did", () => {
  test("goes to all that wait, oldest first", () => {
    const [newer, older] = [waitingSince(2), waitingSince(1)];
    const { delivered, refusal } = deliverEvent([newer.run, older.run], event, LATER);
    expect(idsOf(delivered)).toEqual([older.interruptId, newer.interruptId]);
    expect(refusal).toBeUndefined();
  });

  test("when none waits any more, is refused for what became of the newest", () => {
    const answered = (minute: number) => {
      const gate = waitingSince(minute);
      return next(gate, LATER, interruptResolved(gate.interruptId, "answered", { kind: "external-event" })).run;
    };
    const timedOut = (minute: number) => {
      const gate = waitingSince(minute);
      const reason = { kind: "external-event", reason: "timeout" } as const;
      return next(gate, LATER, interruptResolved(gate.interruptId, "timeout", reason)).run;
    };
    const cancelled = (minute: number) => next(waitingSince(minute), LATER, runCancelled()).run;
    expect(codeOf([answered(2), timedOut(1), cancelled(0)])).toBe("interrupt_already_resolved");
    expect(codeOf([timedOut(2), cancelled(1), answered(0)])).toBe("interrupt_expired");
    expect(codeOf([cancelled(2), answered(1), timedOut(0)])).toBe("interrupt_cancelled");
    expect(codeOf([])).toBe("interrupt_not_found");
  });

  test("ends those whose time is over, and goes to the others", () => {
    const [late, live] = [waitingSince(2, { timeoutMs: 60_000 }), waitingSince(1)];
    const { delivered, expired, refusal } = deliverEvent([late.run, live.run], event, LATER);
    expect([idsOf(delivered), idsOf(expired)]).toEqual([[live.interruptId], [late.interruptId]]);
    expect(refusal).toBeUndefined();
    expect(expired[0]?.events[0]).toMatchObject({ type: "interrupt.resolved", payload: { reason: "timeout" } });
  });

  test("is not for what the same runs wait for besides", () => {
    const others: Asked[] = [
      { data: { ...wait.data, eventType: "payment.lost" } },
      { correlationId: "d" },
      { kind: "custom", data: { customKind: "payment.settled" } },
    ];
    const gate = waitingSince(1);
    const run = others.reduce<Built>(
      (before, asked, i) =>
        next(before, LATER, interruptRequested(gate.run.runId, `int-${i}`, { ...wait, nodeId: `n${i}`, ...asked })),
      gate,
    ).run;
    expect(idsOf(deliverEvent([run], event, LATER).delivered)).toEqual([gate.interruptId]);
  });
});

describe("a held event", () => {
  test("goes to the one that has waited longest of those that can take it", () => {
    const resumeSchema = { type: "object", required: ["signature"] };
    const [newest, older, strict] = [waitingSince(3), waitingSince(2), waitingSince(1, { resumeSchema })];
    const { given, waiting } = giveHeldEvent([newest.run, older.run, strict.run], event, LATER);
    expect([given?.interrupt.interruptId, waiting]).toEqual([older.interruptId, 3]);
    expect(giveHeldEvent([strict.run], event, LATER)).toEqual({ waiting: 1 });
    const late = waitingSince(1, { timeoutMs: 60_000 });
    expect(giveHeldEvent([late.run], event, LATER)).toEqual({ waiting: 0 });
  });
});

describe("an event that says what it belongs to in its payload too", () => {
  test.each([[{ orderId: 7 }], [{ orderId: 7, amount: 1 }], [{ amount: 1 }], ["orderId"], [null], [[7]]])(
    "may say %j of order 7",
    (payload) => expect(() => requireConsistent({ orderId: 7 }, payload)).not.toThrow(),
  );

  test.each([[{ orderId: 8 }], [{ orderId: "7" }], [{ orderId: null }], [{ orderId: [7] }]])(
    "may not say %j of it",
    (payload) => expect(() => requireConsistent({ orderId: 7 }, payload)).toThrow("correlation"),
  );
});
