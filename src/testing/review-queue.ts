import { expect } from "vitest";
import type { ErrorCode } from "../protocol/errors.ts";
import type { AnnotationView } from "../protocol/judgments/annotation-api.ts";
import { QueueAgreement } from "../protocol/queues/agreement-api.ts";
import {
  AddItemsResponse,
  type CreateQueueRequest,
  NextItemResponse,
  QueueItemPage,
  QueueItemView,
  QueueView,
} from "../protocol/queues/api.ts";
import { parse, type Static, type TSchema } from "../protocol/schema.ts";
import type { Store } from "../store/port/store.ts";
import { until } from "./engine.ts";
import { expectError, type TestHost, testHost } from "./host.ts";
import { Member, type NewMember } from "./inbox-client.ts";

const QUEUES = "/v1/host/assay/queues";

/** Somebody with a key, and what they do in a review queue over HTTP. Every answer is checked against its schema. */
export class Reviewer {
  readonly member: Member;

  private constructor(member: Member) {
    this.member = member;
  }

  static async join(host: TestHost, principal: string, more: NewMember = {}): Promise<Reviewer> {
    return new Reviewer(await Member.join(host, principal, more));
  }

  static manager(host: TestHost, principal: string, more: NewMember = {}): Promise<Reviewer> {
    return Reviewer.join(host, principal, { roles: ["admin"], ...more });
  }

  async create(rules: Partial<CreateQueueRequest> & { name: string }): Promise<QueueView> {
    return this.#done(QueueView, 201, QUEUES, { judgment: { kind: "rating" }, ...rules });
  }

  queue(queueId: string): Promise<QueueView> {
    return this.#read(QueueView, `${QUEUES}/${queueId}`);
  }

  update(queueId: string, changes: object): Promise<QueueView> {
    return this.#done(QueueView, 200, `${QUEUES}/${queueId}:update`, changes);
  }

  add(queueId: string, ...runIds: string[]): Promise<AddItemsResponse> {
    const items = runIds.map((runId) => ({ runId }));
    return this.#done(AddItemsResponse, 200, `${QUEUES}/${queueId}/items`, { items });
  }

  async next(queueId: string, body: object = {}): Promise<QueueItemView | null> {
    return (await this.#done(NextItemResponse, 200, `${QUEUES}/${queueId}:next`, body)).item;
  }

  items(queueId: string, query = ""): Promise<QueueItemPage> {
    return this.#read(QueueItemPage, `${QUEUES}/${queueId}/items${query}`);
  }

  item({ queueId, itemId }: ItemOf): Promise<QueueItemView> {
    return this.#read(QueueItemView, `${QUEUES}/${queueId}/items/${itemId}`);
  }

  /** `:judge` and the like. */
  async does(verb: string, item: ItemOf, body: object = {}): Promise<QueueItemView> {
    return this.#done(QueueItemView, 200, urlOf(verb, item), body);
  }

  async refused(verb: string, item: ItemOf, body: object, code: ErrorCode): Promise<void> {
    expectError(await this.tries(verb, item, body), code);
  }

  tries(verb: string, item: ItemOf, body: object, headers: Record<string, string> = {}) {
    return this.member.ask("POST", urlOf(verb, item), body, headers);
  }

  agreement(queueId: string, query = ""): Promise<QueueAgreement> {
    return this.#read(QueueAgreement, `${QUEUES}/${queueId}/agreement${query}`);
  }

  async #read<S extends TSchema>(schema: S, url: string): Promise<Static<S>> {
    const answer = await this.member.ask("GET", url);
    expect(answer.statusCode, answer.payload).toBe(200);
    return parse(schema, answer.json(), "answer");
  }

  async #done<S extends TSchema>(schema: S, status: number, url: string, body: object): Promise<Static<S>> {
    const answer = await this.member.ask("POST", url, body);
    expect(answer.statusCode, answer.payload).toBe(status);
    return parse(schema, answer.json(), "answer");
  }
}

export interface ItemOf {
  readonly queueId: string;
  readonly itemId: string;
}

function urlOf(verb: string, { queueId, itemId }: ItemOf): string {
  return `${QUEUES}/${queueId}/items/${itemId}:${verb}`;
}

/** A run of the workflow `noop`, or of another, that has ended. */
export async function endedRun(host: TestHost, request: object = {}): Promise<string> {
  const json = { workflowId: "noop", ...request };
  const { runId } = (await host.ask("POST", "/v1/runs", { json })).json();
  await until(host.store, runId, ({ status }) => status === "completed");
  return runId;
}

/** A host with somebody who manages queues and three reviewers, in a time that the test may move on. */
export class QueueBench {
  readonly host: TestHost;
  readonly boss: Reviewer;
  readonly ana: Reviewer;
  readonly ben: Reviewer;
  readonly cho: Reviewer;
  readonly pass: (ms: number) => void;
  readonly close: () => Promise<void>;
  #queues = 0;

  private constructor(parts: Pick<QueueBench, "host" | "boss" | "ana" | "ben" | "cho" | "pass" | "close">) {
    this.host = parts.host;
    this.boss = parts.boss;
    this.ana = parts.ana;
    this.ben = parts.ben;
    this.cho = parts.cho;
    this.pass = parts.pass;
    this.close = parts.close;
  }

  static async on({ store, drop }: { store: Store; drop(): Promise<void> }): Promise<QueueBench> {
    let passedMs = 0;
    const host = await testHost({ store, worker: true, host: { nowMs: () => Date.now() + passedMs } });
    return new QueueBench({
      host,
      boss: await Reviewer.manager(host, "boss"),
      ana: await Reviewer.join(host, "ana"),
      ben: await Reviewer.join(host, "ben"),
      cho: await Reviewer.join(host, "cho"),
      pass: (ms) => {
        passedMs += ms;
      },
      close: async () => {
        await host.close();
        await drop();
      },
    });
  }

  /** A queue with new runs in it. */
  async queueWith(rules: object, runs = 1) {
    this.#queues += 1;
    const { queueId } = await this.boss.create({ name: `queue ${this.#queues}`, ...rules });
    const runIds = await Promise.all(Array.from({ length: runs }, () => this.host.newRun()));
    const { added } = await this.boss.add(queueId, ...runIds);
    return { queueId, runIds, items: added };
  }

  /** A queue with one run in it. */
  async queueWithOne(rules: object) {
    const { queueId, items, runIds } = await this.queueWith(rules);
    const [item] = items;
    const [runId] = runIds;
    if (item === undefined || runId === undefined) throw new Error("nothing was added");
    return { queueId, item, runId };
  }

  async annotationsOn(runId: string): Promise<AnnotationView[]> {
    const answer = await this.host.ask("GET", `/v1/host/assay/annotations?runId=${runId}&order=oldest`);
    return answer.json().annotations;
  }
}
