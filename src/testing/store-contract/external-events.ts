import { describe, expect, test } from "vitest";
import type { ExternalEventRecord, ExternalEventWrite, HeldEvent } from "../../store/port/gates.ts";
import { HOUR, NOW, newTenant, next, runWrite, sha256, startedRun } from "../builders.ts";
import { externalEvent, interruptResolved, openGate } from "../gate-builders.ts";
import { accept, refused, type Subject, save, upTo } from "./subject.ts";

function put(event: ExternalEventRecord, nowMs = NOW): ExternalEventWrite {
  return { type: "put", event, nowMs };
}

function delivered(key: ExternalEventRecord, answer = '{"status":200,"body":{}}'): ExternalEventWrite {
  return { type: "delivered", key, answer, expiresAtMs: NOW + 9 * HOUR };
}

/** What a list of held events says of one: not what it holds. */
function headOf({ payload: _, answer: __, ...held }: ExternalEventRecord): HeldEvent {
  return held;
}

export function externalEvents(subject: Subject): void {
  describe("an external event", () => {
    test("is remembered as it came", async () => {
      const { store } = subject;
      const event = externalEvent(newTenant(), { workspace: "w1" });
      expect(await store.readExternalEvent(event)).toBeUndefined();
      await accept(store, { tenant: event.tenant, externalEvents: [put(event)] });
      expect(await store.readExternalEvent(event)).toEqual(event);
    });

    test("that comes again is refused with the first, and nothing of its unit happens", async () => {
      const { store } = subject;
      const first = externalEvent(newTenant(), { state: "delivered" });
      const { tenant } = first;
      await accept(store, { tenant, externalEvents: [put(first)] });
      const started = startedRun({ tenant });
      const again = { ...first, payload: "{}", answer: "{}" };
      const unit = { tenant, runs: [runWrite(started)], externalEvents: [put(again)] };
      expect(await refused(store, unit)).toEqual({ type: "external-event", record: first });
      expect(await store.readRun({ tenant }, started.run.runId)).toBeUndefined();
      expect(await store.readExternalEvent(first)).toEqual(first);
    });

    test("may come again once the first has expired", async () => {
      const { store } = subject;
      const first = externalEvent(newTenant());
      const { tenant, expiresAtMs } = first;
      await accept(store, { tenant, externalEvents: [put(first)] });
      const again = { ...first, payload: "{}", atMs: expiresAtMs, expiresAtMs: expiresAtMs + HOUR };
      const early = await refused(store, { tenant, externalEvents: [put(again, expiresAtMs - 1)] });
      expect(early.type).toBe("external-event");
      await accept(store, { tenant, externalEvents: [put(again, expiresAtMs)] });
      expect(await store.readExternalEvent(first)).toEqual(again);
    });

    test("is its tenant's, its sender's workspace's and its correlation's own", async () => {
      const { store } = subject;
      const event = externalEvent(newTenant());
      await accept(store, { tenant: event.tenant, externalEvents: [put(event)] });
      for (const other of [
        { ...event, tenant: newTenant() },
        { ...event, workspace: "w1" },
        { ...event, correlationId: sha256("order 2") },
        { ...event, eventId: "evt-2" },
      ]) {
        expect(await store.readExternalEvent(other)).toBeUndefined();
        await accept(store, { tenant: other.tenant, externalEvents: [put(other)] });
      }
    });

    test("that is held can be delivered once, and its payload is gone then", async () => {
      const { store } = subject;
      const held = externalEvent(newTenant());
      const { tenant } = held;
      await accept(store, { tenant, externalEvents: [put(held)] });
      await accept(store, { tenant, externalEvents: [delivered(held, "1")] });
      const record = { ...held, state: "delivered", payload: "{}", answer: "1", expiresAtMs: NOW + 9 * HOUR };
      expect(await store.readExternalEvent(held)).toEqual(record);

      const started = startedRun({ tenant });
      const again = { tenant, runs: [runWrite(started)], externalEvents: [delivered(held, "2")] };
      expect(await refused(store, again)).toEqual({ type: "external-event", record });
      expect(await store.readRun({ tenant }, started.run.runId)).toBeUndefined();
      expect(await store.readExternalEvent(held)).toEqual(record);
    });

    test("that nobody knows cannot be delivered", async () => {
      const event = externalEvent(newTenant());
      const unit = { tenant: event.tenant, externalEvents: [delivered(event)] };
      expect(await refused(subject.store, unit)).toEqual({ type: "external-event" });
    });

    test("comes in once and is delivered once, however many try", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const winnerOf = async (write: (n: number) => ExternalEventWrite) => {
        const results = await Promise.all(upTo(12).map((n) => store.commit({ tenant, externalEvents: [write(n)] })));
        expect(results.filter((result) => result.ok)).toHaveLength(1);
        const winner = results.findIndex((result) => result.ok);
        for (const result of results) {
          if (!result.ok)
            expect(result.refusal).toMatchObject({ type: "external-event", record: { answer: `${winner}` } });
        }
      };
      await winnerOf((n) => put(externalEvent(tenant, { answer: `${n}` })));
      await winnerOf((n) => delivered(externalEvent(tenant), `${n}`));
    });

    test("is forgotten when it has expired, held or not", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const held = externalEvent(tenant);
      const done = externalEvent(tenant, { eventId: "evt-2", state: "delivered" });
      const lasting = externalEvent(tenant, { eventId: "evt-3", expiresAtMs: NOW + 2 * HOUR });
      await accept(store, { tenant, externalEvents: [put(held), put(done), put(lasting)] });
      expect(await store.purge(NOW + HOUR - 1)).toBe(0);
      expect(await store.purge(NOW + HOUR)).toBe(2);
      expect(await store.readExternalEvent(held)).toBeUndefined();
      expect(await store.readExternalEvent(lasting)).toEqual(lasting);
    });
  });

  describe("held events", () => {
    test("of a correlation come oldest first, without what they hold and those delivered, expired or of somebody else", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const event = (eventId: string, atMs: number, more: Partial<ExternalEventRecord> = {}) =>
        externalEvent(tenant, { eventId, atMs, ...more });
      const newer = event("a", NOW + 2);
      const older = event("b", NOW + 1, { workspace: "w1" });
      const typed = event("c", NOW + 3, { eventType: "order.lost" });
      const foreign = { ...older, tenant: newTenant() };
      const others = [
        event("d", NOW, { state: "delivered" }),
        event("e", NOW, { expiresAtMs: NOW + 10 }),
        event("f", NOW, { correlationId: sha256("order 2") }),
      ];
      await accept(store, { tenant, externalEvents: [newer, older, typed, ...others].map((one) => put(one)) });
      await accept(store, { tenant: foreign.tenant, externalEvents: [put(foreign)] });

      const query = { tenant, correlationId: newer.correlationId, nowMs: NOW + 10, limit: 10 };
      expect(await store.heldEvents(query)).toEqual([older, newer, typed].map(headOf));
      expect(await store.heldEvents({ ...query, limit: 1 })).toEqual([headOf(older)]);
      expect(await store.heldEvents({ ...query, after: headOf(older) })).toEqual([newer, typed].map(headOf));
      expect(await store.heldEvents({ ...query, eventType: "order.lost" })).toEqual([headOf(typed)]);
      expect(await store.heldEvents({ ...query, tenant: newTenant() })).toEqual([]);
      expect(await store.countHeldEvents(tenant, 9)).toBe(5);
      expect(await store.countHeldEvents(tenant, 2)).toBe(2);
      expect(await store.countHeldEvents(newTenant(), 9)).toBe(0);
    });

    test("for which an interrupt waits are found whoever they belong to", async () => {
      const { store } = subject;
      const waiting = { kind: "external-event" as const, data: { eventType: "order.paid" } };
      /** An event and an interrupt of the same tenant; whether the one is waited for. */
      const pair = async (
        event: Partial<ExternalEventRecord>,
        gate: { correlationId: string; timeoutMs?: number },
        workspace?: string,
      ) => {
        const held = externalEvent(newTenant(), event);
        const { tenant } = held;
        await accept(store, { tenant, externalEvents: [put(held)] });
        const opened = openGate({ tenant, ...(workspace === undefined ? {} : { workspace }) }, { ...waiting, ...gate });
        await save(store, opened);
        return { held, opened };
      };
      const correlationId = externalEvent("t").correlationId;
      const same = { correlationId };

      const plain = await pair({ atMs: NOW + 1 }, same);
      const bound = await pair({ atMs: NOW + 2, workspace: "w1" }, same, "w1");
      const wide = await pair({ atMs: NOW + 3 }, same, "w1");
      await pair({ workspace: "w1" }, same, "w2");
      await pair({ workspace: "w1" }, same);
      await pair({ eventType: "order.lost" }, same);
      await pair({}, { correlationId: sha256("order 2") });
      await pair({ expiresAtMs: NOW + 5 }, same);
      await pair({}, { correlationId, timeoutMs: 5 });
      const { opened } = await pair({}, same);
      await save(store, next(opened, NOW, interruptResolved(opened.interruptId, "answered")));

      const found = await store.heldEvents({ nowMs: NOW + 5, limit: 100 });
      expect(found).toEqual([plain.held, bound.held, wide.held].map(headOf));
      expect(await store.heldEvents({ nowMs: NOW + 5, limit: 2 })).toEqual([plain.held, bound.held].map(headOf));
      expect(await store.heldEvents({ nowMs: NOW + 5, limit: 2, after: bound.held })).toEqual([headOf(wide.held)]);
    });
  });
}
