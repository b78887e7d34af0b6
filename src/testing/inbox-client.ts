import { expect } from "vitest";
import {
  type DecideRequest,
  DecideResponse,
  INBOX_EVENTS,
  type InboxItem,
  InboxResponse,
} from "../protocol/gates/inbox-api.ts";
import type { PrincipalKind } from "../protocol/identity/identity.ts";
import { parse } from "../protocol/schema.ts";
import { until } from "./engine.ts";
import type { TestHost } from "./host.ts";
import { SseClient } from "./sse-client.ts";
import { workflow } from "./workflow.ts";

export interface NewMember {
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
  readonly workspace?: string;
  readonly kind?: PrincipalKind;
}

/** Somebody with a key of the first tenant, and what they do with the inbox over HTTP. */
export class Member {
  readonly principal: string;
  readonly key: string;
  readonly #host: TestHost;

  private constructor(host: TestHost, principal: string, key: string) {
    this.#host = host;
    this.principal = principal;
    this.key = key;
  }

  /** A reviewer, unless it is said otherwise. */
  static async join(host: TestHost, principal: string, more: NewMember = {}): Promise<Member> {
    const json = { principal, roles: ["reviewer"], ...more };
    const answer = await host.ask("POST", "/v1/host/assay/keys", { json });
    expect(answer.statusCode, answer.payload).toBe(201);
    return new Member(host, principal, answer.json().key);
  }

  get headers(): { authorization: string } {
    return { authorization: `Bearer ${this.key}` };
  }

  ask(method: "GET" | "POST", url: string, json?: unknown, headers: Record<string, string> = {}) {
    const body = json === undefined ? {} : { json };
    return this.#host.ask(method, url, { ...body, headers: { ...this.headers, ...headers } });
  }

  async page(query = ""): Promise<InboxResponse> {
    const answer = await this.ask("GET", `/v1/host/assay/inbox${query}`);
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(InboxResponse, answer.json(), "inbox");
  }

  async inbox(query = ""): Promise<InboxItem[]> {
    return (await this.page(query)).items;
  }

  async decide(...items: DecideRequest["items"]): Promise<DecideResponse["results"]> {
    const answer = await this.ask("POST", "/v1/host/assay/inbox:decide", { items });
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(DecideResponse, answer.json(), "results").results;
  }

  /** The same answer to one interrupt. */
  async answer(interruptId: string, resumeValue: unknown): Promise<DecideResponse["results"][number]> {
    const [result] = await this.decide({ interruptId, resumeValue });
    return result as DecideResponse["results"][number];
  }

  async follow(url: string, query = "", reading = true): Promise<InboxFollower> {
    const client = await SseClient.open(`${url}/v1/host/assay/inbox/events${query}`, this.headers, reading);
    return new InboxFollower(client);
  }
}

/** What a live inbox has said so far, checked against its schemas. */
export class InboxFollower {
  readonly client: SseClient;

  constructor(client: SseClient) {
    this.client = client;
  }

  get frames(): { event: string; data: Record<string, unknown> }[] {
    return this.client.frames.map(({ event = "", data = "" }) => {
      const schema = INBOX_EVENTS[event as keyof typeof INBOX_EVENTS].data;
      return { event, data: parse(schema, JSON.parse(data), event) as Record<string, unknown> };
    });
  }

  /** The names of the frames about one interrupt, in order. */
  about(interruptId: string): string[] {
    return this.frames.filter(({ data }) => data["interruptId"] === interruptId).map(({ event }) => event.slice(6));
  }

  last(interruptId: string): Record<string, unknown> | undefined {
    return this.frames.findLast(({ data }) => data["interruptId"] === interruptId)?.data;
  }

  /** Until everything that was open has been told. */
  async untilTold(): Promise<this> {
    await this.client.until(() => this.frames.some(({ event }) => event === "inbox.snapshot"));
    return this;
  }

  async until(interruptId: string, event: string): Promise<void> {
    await this.client.until(() => this.about(interruptId).includes(event));
  }
}

export interface GateSpec {
  readonly id?: string;
  readonly typeId?: string;
  readonly config?: object;
  readonly inputs?: object;
  readonly variables?: readonly object[];
}

let gates = 0;

/** Registers a workflow with one gate; gives its id. */
export async function gateWorkflow(
  host: TestHost,
  spec: GateSpec = {},
  headers: Record<string, string> = {},
): Promise<string> {
  gates += 1;
  const { id = `gated-${gates}`, typeId = "core.approvalGate", config = {}, inputs = {}, variables = [] } = spec;
  const gate = { typeId, config, inputs } as never;
  const json = workflow({
    id,
    nodes: { gate, after: "core.noop" },
    edges: ["gate>after"],
    variables: variables as never,
  });
  const answer = await host.ask("POST", "/v1/workflows", { json, headers });
  expect(answer.statusCode, answer.payload).toBeLessThan(300);
  return id;
}

/** Starts a run and waits for its gate. */
export async function openGate(
  host: TestHost,
  workflowId: string,
  headers: Record<string, string> = {},
  request: object = {},
): Promise<{ runId: string; interruptId: string }> {
  const answer = await host.ask("POST", "/v1/runs", { json: { workflowId, ...request }, headers });
  expect(answer.statusCode, answer.payload).toBe(201);
  const { runId } = answer.json();
  const run = await until(host.store, runId, ({ interrupts }) => Object.keys(interrupts).length > 0);
  return { runId, interruptId: Object.keys(run.interrupts)[0] ?? "" };
}
