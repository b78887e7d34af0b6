import { expect } from "vitest";
import type { Judgment } from "../protocol/judgments/judgment-file.ts";
import { ImportResponse } from "../protocol/judgments/judgment-file.ts";
import { parse } from "../protocol/schema.ts";
import { type Asked, type TestHost, testHost, type Who } from "./host.ts";

export const HEADER = { type: "header", format: "assay-judgments", version: 1 };

/** A host with a worker, and what a test does there with judgments and files of them. */
export class JudgmentHost {
  readonly host: TestHost;
  readonly #drop: () => Promise<void>;

  private constructor(host: TestHost, drop: () => Promise<void>) {
    this.host = host;
    this.#drop = drop;
  }

  static async open(open: () => Promise<{ store: TestHost["store"]; drop(): Promise<void> }>): Promise<JudgmentHost> {
    const { store, drop } = await open();
    return new JudgmentHost(await testHost({ store, worker: true }), drop);
  }

  async close(): Promise<void> {
    await this.host.close();
    await this.#drop();
  }

  /** A run that has ended. */
  async ended(as: Who = "owner", request: object = {}): Promise<string> {
    const created = await this.host.ask("POST", "/v1/runs", { as, json: { workflowId: "noop", ...request } });
    expect(created.statusCode, created.payload).toBe(201);
    const { runId } = created.json();
    await expect
      .poll(async () => (await this.host.ask("GET", `/v1/runs/${runId}`, { as })).json().status)
      .toBe("completed");
    return runId;
  }

  async judge(runId: string, json: object, asked: Asked = {}): Promise<string> {
    const answer = await this.host.ask("POST", `/v1/host/assay/runs/${runId}/annotations`, { json, ...asked });
    expect(answer.statusCode, answer.payload).toBe(201);
    return answer.json().annotationId;
  }

  async retract(annotationId: string, reason = "a slip"): Promise<void> {
    const path = `/v1/host/assay/annotations/${annotationId}:retract`;
    expect((await this.host.ask("POST", path, { json: { reason } })).statusCode).toBe(200);
  }

  async closeFlag(annotationId: string, note = "looked into"): Promise<void> {
    const path = `/v1/host/assay/annotations/${annotationId}:close`;
    expect((await this.host.ask("POST", path, { json: { note } })).statusCode).toBe(200);
  }

  async get(annotationId: string, as: Who = "owner") {
    return (await this.host.ask("GET", `/v1/host/assay/annotations/${annotationId}`, { as })).json();
  }

  /** Lines of an export, as they are sent. */
  async export(query = "", as: Who = "owner"): Promise<string[]> {
    const answer = await this.host.ask("GET", `/v1/host/assay/annotations:export${query}`, { as });
    expect(answer.statusCode, answer.payload).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/x-ndjson");
    expect(answer.payload.endsWith("\n")).toBe(true);
    return answer.payload.slice(0, -1).split("\n");
  }

  async judgments(query = "", as: Who = "owner"): Promise<(Judgment & { type: string })[]> {
    return (await this.export(query, as)).slice(1, -1).map((line) => JSON.parse(line));
  }

  sendLines(lines: readonly object[], asked: Asked = {}, more: object = {}) {
    return this.host.ask("POST", "/v1/host/assay/annotations:import", { json: { lines, ...more }, ...asked });
  }

  /** Judgments under a header of their own. */
  async import(judgments: readonly object[], as: Who = "owner", more: object = {}): Promise<ImportResponse> {
    const answer = await this.sendLines([HEADER, ...judgments], { as }, more);
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(ImportResponse, answer.json(), "import");
  }

  /** A whole file. */
  async importFile(lines: readonly string[], as: Who = "owner"): Promise<ImportResponse> {
    const answer = await this.sendLines(
      lines.map((line) => JSON.parse(line)),
      { as },
    );
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(ImportResponse, answer.json(), "import");
  }

  /** A run with every kind of judgment, in every state. */
  async judgedRun(): Promise<{ runId: string; ids: string[]; query: string }> {
    const runId = await this.ended("owner", { metadata: { agentId: "writer" } });
    const log = await this.host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
    const event = log.json().events.find(({ type }: { type: string }) => type === "node.completed");
    const first = await this.judge(runId, { ...RATING, note: "so-so \u2028 “quoted” \u{1f600}\nsecond line" });
    const second = await this.judge(runId, { ...RATING, supersedes: first });
    const third = await this.judge(runId, {
      signal: { kind: "correction", correction: "42" },
      target: { nodeId: "a" },
    });
    const fourth = await this.judge(runId, {
      signal: { kind: "label", label: "pass" },
      target: { eventId: event.eventId },
    });
    const [open, closed] = [await this.judge(runId, FLAG), await this.judge(runId, FLAG)];
    await this.retract(third);
    await this.closeFlag(closed);
    return { runId, ids: [first, second, third, fourth, open, closed], query: `?runId=${runId}` };
  }

  async summary(query = "", as: Who = "owner") {
    const answer = await this.host.ask("GET", `/v1/host/assay/feedback/summary${query}`, { as });
    expect(answer.statusCode, answer.payload).toBe(200);
    return answer.json();
  }
}

const RATING = { signal: { kind: "rating", rating: 4 } };
const FLAG = { signal: { kind: "flag" } };

let made = 0;

/** A line of type annotation about a run that no host has, unless the test says more. */
export function foreignLine(more: object = {}): Record<string, unknown> & { annotationId: string } {
  made += 1;
  return {
    type: "annotation",
    annotationId: `ann-01${String(made).padStart(24, "0")}`,
    target: { runId: "run-from-elsewhere" },
    signal: { kind: "rating", rating: 2 },
    actor: { principalRef: "somebody" },
    createdAt: "2027-03-01T12:00:00.000Z",
    workflowId: "noop",
    actorKind: "person",
    state: "live",
    ...more,
  };
}
