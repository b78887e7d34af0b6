import { expect } from "vitest";
import type { SendExternalEventRequest } from "../protocol/gates/api.ts";
import type { Run } from "../protocol/runs/run.ts";
import type { WorkflowDefinition } from "../protocol/workflows/workflow.ts";
import type { Store } from "../store/port/store.ts";
import { GATE } from "./family.ts";
import { GateClient } from "./gate-host.ts";
import { type TestHost, testHost, type Who } from "./host.ts";
import { workflow } from "./workflow.ts";

let orders = 0;

/** What belongs to nothing else in the test. */
export function newOrder(): { orderId: number } {
  orders += 1;
  return { orderId: orders };
}

const variables = [{ name: "correlation", type: "object" }] as never;

function wait(more: object = {}) {
  return {
    typeId: "core.interrupt",
    config: { kind: "external-event", data: { eventType: "payment.settled" }, ...more },
    inputs: { correlation: { type: "variable" as const, variableName: "correlation" } },
  };
}

/** Waits for `payment.settled` with the correlation it is started with. */
export function waitsForPayment(id: string, more: object = {}): WorkflowDefinition {
  return workflow({ id, nodes: { wait: wait(more) }, variables });
}

/** The same, once somebody has accepted it. */
export function waitsForPaymentAfterGate(id: string): WorkflowDefinition {
  return workflow({ id, nodes: { gate: GATE, wait: wait() }, edges: ["gate>wait"], variables });
}

/** An event of that type; its id is its own unless the test gives one. */
export function payment(
  correlation: Record<string, unknown>,
  more: Partial<SendExternalEventRequest> = {},
): SendExternalEventRequest {
  const eventId = `pay-${JSON.stringify(correlation)}`;
  return { eventType: "payment.settled", eventId, correlation, payload: { amount: 12 }, ...more };
}

/** A host with a worker, workflows that wait for payments, and a clock that the test can put forward. */
export class EventHost {
  readonly host: TestHost;
  readonly gates: GateClient;
  readonly #skew: { ms: number };

  private constructor(host: TestHost, skew: { ms: number }) {
    this.host = host;
    this.gates = new GateClient(host);
    this.#skew = skew;
  }

  static async start(store: Store): Promise<EventHost> {
    const skew = { ms: 0 };
    const nowMs = () => Date.now() + skew.ms;
    const host = await testHost({ store, worker: true, host: { nowMs, gates: { eventRetentionMs: 3_600_000 } } });
    const started = new EventHost(host, skew);
    await started.#register();
    return started;
  }

  async #register(): Promise<void> {
    const { gates } = this;
    await gates.registerWorkflow(waitsForPayment("order"));
    await gates.registerWorkflow(waitsForPayment("order"), "other");
    await gates.registerWorkflow(workflow({ id: "pair", nodes: { wait: wait(), also: wait() }, variables }));
    await gates.registerWorkflow(waitsForPayment("timed", { timeoutMs: 600_000 }));
    await gates.registerWorkflow(waitsForPayment("guarded", { profile: "openwop-interrupt-auth-required" }));
    const resumeSchema = { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] };
    await gates.registerWorkflow(waitsForPayment("strict", { resumeSchema }));
    const config = { workflowId: "order", inputMapping: { correlation: "correlation" } };
    const child = { typeId: "core.subWorkflow", config };
    const nodes = { first: child, second: child, own: wait() };
    await gates.registerWorkflow(workflow({ id: "family", nodes, variables }));
  }

  pass(ms: number): void {
    this.#skew.ms += ms;
  }

  start(correlation: object, { as = "owner" as Who, id = "order" } = {}): Promise<string> {
    return this.gates.start(id, as, { inputs: { correlation } });
  }

  async waiting(correlation: object, which: { as?: Who; id?: string } = {}): Promise<string> {
    const runId = await this.start(correlation, which);
    const tenant = which.as === "other" ? "t2" : "t1";
    await this.gates.until(runId, ({ status }) => status === "waiting-external", tenant);
    return runId;
  }

  /** A run with two children, all three of which wait. */
  async family(correlation: object): Promise<string> {
    const runId = await this.start(correlation, { id: "family" });
    await this.gates.until(runId, ({ children, interrupts }) => {
      const waiting = Object.values(children).filter(({ status }) => status === "waiting-external");
      return waiting.length === 2 && Object.keys(interrupts).length === 1;
    });
    return runId;
  }

  send(json: unknown, as: Who = "owner", headers: Record<string, string> = {}) {
    return this.host.ask("POST", "/v1/host/assay/external-events", { as, json, headers });
  }

  completed(runId: string): Promise<Run> {
    return this.gates.until(runId, ({ status }) => status === "completed");
  }

  async stillWaits(runId: string): Promise<void> {
    expect(await this.host.store.readRun({ tenant: "t1" }, runId)).toMatchObject({ status: "waiting-external" });
  }

  /** What the node of a run was given. */
  async given(runId: string): Promise<Record<string, unknown> | undefined> {
    return (await this.gates.events(runId, "interrupt.resolved"))[0]?.payload;
  }

  async audited(action: string, target: string) {
    const entries = await this.host.store.readAudit("t1", 1, 100_000, 100_000);
    return entries.filter((entry) => entry.action === action && entry.target === target);
  }
}
