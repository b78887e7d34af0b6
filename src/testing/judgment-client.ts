import { type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { expect } from "vitest";
import { ANNOTATION_EVENTS, AnnotationPage, AnnotationView } from "../protocol/judgments/annotation-api.ts";
import { parse } from "../protocol/schema.ts";
import { readFrames } from "../sdk/server-sent-events.ts";
import { until } from "./engine.ts";
import { bearer, type TestHost } from "./host.ts";

type Headers = Readonly<Record<string, string>>;

/** What reviewers do with judgments over HTTP, as the owner of the first tenant unless the headers say otherwise. */
export class JudgmentClient {
  readonly #host: TestHost;

  constructor(host: TestHost) {
    this.#host = host;
  }

  /** A run that has completed. */
  async ended(workflowId = "noop", headers: Headers = {}, more: object = {}): Promise<string> {
    const created = await this.#host.ask("POST", "/v1/runs", { json: { workflowId, ...more }, headers });
    expect(created.statusCode, created.payload).toBe(201);
    const { runId } = created.json();
    const { tenant } = (await this.#host.ask("GET", "/v1/host/assay/whoami", { headers })).json();
    await until(this.#host.store, runId, ({ status }) => status === "completed", tenant);
    return runId;
  }

  async judge(runId: string, json: object, headers: Headers = {}): Promise<AnnotationView> {
    return this.#view(`/v1/host/assay/runs/${runId}/annotations`, json, headers, 201);
  }

  flag(runId: string, note = "look", headers: Headers = {}): Promise<AnnotationView> {
    return this.judge(runId, { signal: { kind: "flag" }, note }, headers);
  }

  rate(runId: string, rating: number, more: object = {}, headers: Headers = {}): Promise<AnnotationView> {
    return this.judge(runId, { signal: { kind: "rating", rating }, ...more }, headers);
  }

  retract(annotationId: string, headers: Headers = {}): Promise<AnnotationView> {
    return this.#view(`/v1/host/assay/annotations/${annotationId}:retract`, { reason: "a slip" }, headers, 200);
  }

  close(annotationId: string, headers: Headers = {}): Promise<AnnotationView> {
    return this.#view(`/v1/host/assay/annotations/${annotationId}:close`, { note: "dealt with" }, headers, 200);
  }

  async page(query: object = {}, headers: Headers = {}): Promise<AnnotationPage> {
    const search = new URLSearchParams(query as Record<string, string>);
    const answer = await this.#host.ask("GET", `/v1/host/assay/annotations?${search}`, { headers });
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(AnnotationPage, answer.json(), "page");
  }

  async ids(query: object = {}, headers: Headers = {}): Promise<string[]> {
    return (await this.page(query, headers)).annotations.map(({ annotationId }) => annotationId);
  }

  async #view(url: string, json: object, headers: Headers, status: number): Promise<AnnotationView> {
    const answer = await this.#host.ask("POST", url, { json, headers });
    expect(answer.statusCode, answer.payload).toBe(status);
    return parse(AnnotationView, answer.json(), "annotation");
  }
}

export interface Following {
  readonly query?: object;
  readonly headers?: Headers;
  /** `Last-Event-ID`. */
  readonly after?: string;
  /** False: it takes nothing before `read`. */
  readonly reading?: boolean;
}

interface Told {
  readonly event: string;
  /** The place of the change, to resume after. */
  readonly id: string;
  /** The annotation and, unless it was recorded, the change: `ann-….retracted`. */
  readonly name: string;
  readonly data: AnnotationView;
}

/** What a live stream of judgments has said so far, checked against its schemas. */
export class JudgmentFollower {
  readonly told: Told[] = [];
  readonly response: IncomingMessage;
  /** The id to resume after. */
  lastId: string | undefined;
  #waiting: (() => void)[] = [];
  #over: (how: "end" | "cut") => void = () => {};
  readonly closed = new Promise<"end" | "cut">((resolve) => {
    this.#over = resolve;
  });

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.on("close", () => this.#over(response.complete ? "end" : "cut")).on("error", () => {});
  }

  static async open(url: string, { query = {}, headers, after, reading = true }: Following = {}) {
    const search = new URLSearchParams(query as Record<string, string>);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const resume: Headers = after === undefined ? {} : { "last-event-id": after };
      const all = { ...bearer("owner"), ...headers, ...resume };
      request(`${url}/v1/host/assay/annotations/events?${search}`, { headers: all, agent: false }, resolve)
        .on("error", reject)
        .end();
    });
    const follower = new JudgmentFollower(response);
    if (reading) void follower.read();
    return follower;
  }

  async read(): Promise<void> {
    const onId = (id: string) => {
      this.lastId = id;
      for (const wake of this.#waiting.splice(0)) wake();
    };
    try {
      for await (const { event, id = "", data } of readFrames(Readable.toWeb(this.response), onId)) {
        const schema = ANNOTATION_EVENTS[event as keyof typeof ANNOTATION_EVENTS].data;
        const view = parse(schema, JSON.parse(data), event);
        this.told.push({ event, id, name: nameOf(event, view), data: view });
        for (const wake of this.#waiting.splice(0)) wake();
      }
    } catch (error) {
      if (!this.response.destroyed) throw error;
    }
  }

  /** Names of the changes in the order of their frames. */
  get names(): string[] {
    return this.told.map(({ name }) => name);
  }

  /** Ids of the frames. */
  get ids(): string[] {
    return this.told.map(({ id }) => id);
  }

  async until(condition: () => boolean): Promise<this> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this;
  }

  untilTold(name: string): Promise<this> {
    return this.until(() => this.names.includes(name));
  }

  /** Until it is known where it began. */
  untilOpen(): Promise<this> {
    return this.until(() => this.lastId !== undefined);
  }

  disconnect(): void {
    this.response.destroy();
  }
}

function nameOf(event: string, { annotationId }: AnnotationView): string {
  const change = event.slice("annotation.".length);
  return change === "recorded" ? annotationId : `${annotationId}.${change}`;
}
