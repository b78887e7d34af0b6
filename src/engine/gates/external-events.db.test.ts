import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { own } from "../../protocol/own.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, begin, logOf, register, until, workerOn } from "../../testing/engine.ts";
import { newOrder, payment, waitsForPayment } from "../../testing/external-events.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { sendExternalEvent } from "./external-events.ts";

type Order = ReturnType<typeof newOrder>;

describe.each(BOTH_STORES)("an external event on %s", (_, open) => {
  let store: Store;
  let drop: () => Promise<void>;
  let host: ReturnType<typeof hostAt>;
  beforeEach(async () => {
    ({ store, drop } = await open());
    host = hostAt(store);
    await register(host, waitsForPayment("order"));
    await register(host, waitsForPayment("timed", { timeoutMs: 60_000 }));
  });
  afterEach(async () => {
    await store.close();
    await drop();
  });

  /** Runs that wait, and nobody who works on them any more. */
  async function waiting(correlation: Order, ...workflowIds: string[]): Promise<string[]> {
    const worker = workerOn(host);
    const runIds: string[] = [];
    for (const workflowId of workflowIds) {
      const runId = await begin(host, { workflowId, inputs: { correlation } });
      await until(store, runId, ({ status }) => status === "waiting-external");
      runIds.push(runId);
    }
    await worker.stop(1000);
    return runIds;
  }

  const send = (order: Order, more: object = {}) =>
    sendExternalEvent(host, { caller: ADA, request: payment(order, more), record: () => undefined });

  async function endOf(runId: string) {
    const run = await store.readRun({ tenant: "t1" }, runId);
    const [interrupt] = Object.values(run?.interrupts ?? {});
    return { wait: interrupt?.status, node: own(run?.nodes ?? {}, "wait")?.status };
  }

  const timedOut = async () =>
    (await store.readAudit("t1", 1, 1000, 1000)).filter(({ action }) => action === "interrupt.timed_out");

  test("that is the first to come after a deadline ends the wait, once, and is refused", async () => {
    const order = newOrder();
    const [runId = ""] = await waiting(order, "timed");
    host.pass(60_000);
    const codes = await Promise.all(
      ["e1", "e2", "e3"].map((eventId) => send(order, { eventId }).catch(({ code }: { code: string }) => code)),
    );
    expect(codes).toEqual(["interrupt_expired", "interrupt_expired", "interrupt_expired"]);
    expect(await endOf(runId)).toEqual({ wait: "expired", node: "resumed" });
    expect(await timedOut()).toMatchObject([{ target: runId, actor: "ada" }]);
    const resolved = (await logOf(store, runId)).filter(({ type }) => type === "interrupt.resolved");
    expect(resolved).toMatchObject([{ payload: { outcome: "timeout", reason: "timeout" } }]);
  });

  test("that comes after a deadline ends the wait and is held, where that is asked for", async () => {
    const order = newOrder();
    const [runId = ""] = await waiting(order, "timed");
    host.pass(60_000);
    expect((await send(order, { holdSeconds: 60 })).answer.status).toBe(202);
    expect(await endOf(runId)).toEqual({ wait: "expired", node: "resumed" });
  });

  test("that comes after one deadline and before another ends the one wait and goes to the other", async () => {
    const order = newOrder();
    const [late = "", live = ""] = await waiting(order, "timed", "order");
    host.pass(60_000);
    const { answer } = await send(order);
    expect(answer.body).toMatchObject({ delivered: [{ runId: live }] });
    expect(await endOf(late)).toEqual({ wait: "expired", node: "resumed" });
    expect(await endOf(live)).toEqual({ wait: "resolved", node: "resumed" });
  });

  test("that more wait for than one commit can hold is refused, and all of them still wait", async () => {
    const order = newOrder();
    const [runId = ""] = await waiting(order, "order");
    const crowded: Store["interruptsByCorrelation"] = async (visible, query) => {
      const [one] = await store.interruptsByCorrelation(visible, query);
      return one === undefined ? [] : Array.from({ length: query.limit }, () => one);
    };
    const full = { ...host, store: { ...store, interruptsByCorrelation: crowded } };
    const sent = sendExternalEvent(full, { caller: ADA, request: payment(order), record: () => undefined });
    await expect(sent).rejects.toMatchObject({ code: "validation_error" });
    expect(await endOf(runId)).toEqual({ wait: "open", node: "suspended" });
  });
});
