import { expect } from "vitest";
import type { Interrupt } from "../protocol/gates/interrupt.ts";
import type { Run } from "../protocol/runs/run.ts";
import type { RunSnapshot } from "../protocol/runs/snapshot.ts";
import type { WorkflowDefinition } from "../protocol/workflows/workflow.ts";
import { until } from "./engine.ts";
import type { TestHost, Who } from "./host.ts";
import { workflow } from "./workflow.ts";

/** What a test does with a gate over HTTP, as whoever it says. */
export class GateClient {
  readonly #host: TestHost;

  constructor(host: TestHost) {
    this.#host = host;
  }

  /** A workflow with one node called `gate` and one after it, unless the test says more. */
  async register(id: string, typeId: string, config: object, as: Who = "owner", more: object = {}): Promise<void> {
    const definition = workflow({
      id,
      nodes: { gate: { typeId, config } as never, after: "core.noop" },
      edges: ["gate>after"],
      ...more,
    });
    await this.registerWorkflow(definition, as);
  }

  async registerWorkflow(definition: WorkflowDefinition, as: Who = "owner"): Promise<void> {
    const answer = await this.#host.ask("POST", "/v1/workflows", { as, json: definition });
    expect(answer.statusCode, answer.payload).toBeLessThan(300);
  }

  /** A run that has come to wait for something. */
  async waiting(workflowId: string, as: Who = "owner", request: object = {}): Promise<string> {
    const runId = await this.start(workflowId, as, request);
    await this.until(runId, (run) => run.status.startsWith("waiting-"));
    return runId;
  }

  async start(workflowId: string, as: Who = "owner", request: object = {}): Promise<string> {
    const created = await this.#host.ask("POST", "/v1/runs", { as, json: { workflowId, ...request } });
    expect(created.statusCode, created.payload).toBe(201);
    return created.json().runId;
  }

  until(runId: string, holds: (run: Run) => boolean, tenant = "t1"): Promise<Run> {
    return until(this.#host.store, runId, holds, tenant);
  }

  answer(runId: string, resumeValue: unknown, { as = "owner" as Who, node = "gate", headers = {} } = {}) {
    return this.#host.ask("POST", `/v1/runs/${runId}/interrupts/${node}`, { as, json: { resumeValue }, headers });
  }

  async snapshot(runId: string, as: Who = "owner"): Promise<RunSnapshot> {
    return (await this.#host.ask("GET", `/v1/runs/${runId}`, { as })).json();
  }

  async token(runId: string): Promise<string> {
    return String((await this.snapshot(runId)).interrupt?.interruptToken);
  }

  byToken(token: string, resumeValue?: unknown) {
    const headers = { authorization: "" };
    const url = `/v1/interrupts/${token}`;
    return resumeValue === undefined
      ? this.#host.ask("GET", url, { headers })
      : this.#host.ask("POST", url, { headers, json: { resumeValue } });
  }

  async interrupt(runId: string, tenant = "t1"): Promise<Interrupt> {
    const run = await this.#host.store.readRun({ tenant }, runId);
    return Object.values(run?.interrupts ?? {}).at(-1) as Interrupt;
  }

  async events(runId: string, type?: string): Promise<{ type: string; payload: Record<string, unknown> }[]> {
    const answer = await this.#host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
    const events = answer.json().events as { type: string; payload: Record<string, unknown> }[];
    return type === undefined ? events : events.filter((event) => event.type === type);
  }
}
