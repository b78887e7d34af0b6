import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { visibleRun } from "../engine/execute.ts";
import { readSnapshot } from "../engine/runs/read-run.ts";
import { scrubber } from "../formats/secrets/scrub.ts";
import type { Handler } from "../http/pipeline/handler.ts";
import { queryReader } from "../http/pipeline/read-url.ts";
import { errorReply } from "../http/pipeline/reply.ts";
import { Context } from "../http/pipeline/request-context.ts";
import { pollEvents, streamEvents } from "../http/routes/events.ts";
import { RunFeeds } from "../http/streams/run-feeds.ts";
import type { StreamSettings } from "../http/streams/stream-room.ts";
import { AppError } from "../protocol/errors.ts";
import type { EventDraft, RunEvent } from "../protocol/events.ts";
import { OPERATIONS } from "../protocol/operations.ts";
import { fold, type Run } from "../protocol/runs/run.ts";
import type { TSchema } from "../protocol/schema.ts";
import type { Store } from "../store/port/store.ts";
import { NOW, newId, runWrite, sha256, startedRun } from "./builders.ts";
import { ADA, engineOn } from "./engine.ts";
import { workflow } from "./workflow.ts";

const SCRUBBER = scrubber();

export interface StreamHost {
  readonly url: string;
  readonly feeds: RunFeeds;
  /** What went wrong inside, which should be nothing. */
  readonly reported: unknown[];
  /** The server's side of every request so far. */
  readonly responses: ServerResponse[];
  close(): Promise<void>;
}

/** The event routes behind a bare server: whoever asks is Ada. */
export async function streamHost(store: Store, settings: Partial<StreamSettings> = {}): Promise<StreamHost> {
  const reported: unknown[] = [];
  const responses: ServerResponse[] = [];
  const host = engineOn(store);
  const feeds = new RunFeeds(host, { settings, report: (error) => reported.push(error) });
  const app = Fastify({ forceCloseConnections: true });

  const mount = (path: string, handler: Handler, query?: TSchema) => {
    const readQuery = query && queryReader(query);
    app.get(path, async (request, reply) => {
      responses.push(reply.raw);
      try {
        const params = request.params as { runId: string };
        const run = await visibleRun(host, ADA, params.runId);
        const query = readQuery?.(request.url);
        const body = { value: {}, text: "" };
        const report = (error: unknown) => reported.push(error);
        const watch = () => () => {};
        const context = new Context(host, request, reply, ADA, params, run, query, body, undefined, watch, report, {});
        const answer = await handler(context);
        if (answer === "hijacked") return reply;
        if ("json" in answer) return reply.status(answer.status).send(answer.json);
        return reply.type(answer.contentType ?? "").send(answer.raw);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const { status, headers, json } = errorReply(error, SCRUBBER);
        return reply.status(status).headers(headers).send(json);
      }
    });
  };
  mount("/v1/runs/:runId/events", streamEvents(feeds) as Handler, OPERATIONS.streamEvents.query);
  mount("/v1/runs/:runId/events/poll", pollEvents(feeds) as Handler, OPERATIONS.pollEvents.query);
  mount("/v1/runs/:runId", async ({ params }) => {
    const { snapshot } = await readSnapshot(host, ADA, params["runId"] ?? "");
    return { status: 200, raw: JSON.stringify(snapshot), contentType: "application/json" };
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, feeds, reported, responses, close: () => app.close() };
}

/** A run written by hand, event by event. */
export class WrittenRun {
  readonly events: RunEvent[] = [];
  readonly #store: Store;
  #run: Run;

  private constructor(store: Store, run: Run) {
    this.#store = store;
    this.#run = run;
  }

  /** Its workflow has the sensitive variable `secret`. */
  static async start(store: Store, secret: unknown = "s3cret"): Promise<WrittenRun> {
    const built = startedRun({
      tenant: ADA.tenant,
      inputs: { secret: "[REDACTED]" },
      sealedInputs: { secret },
    });
    const { workflowId, workflowHash: hash } = built.run;
    const variables = [{ name: "secret", type: "string" as const, sensitive: true }];
    const definition = JSON.stringify(workflow({ id: workflowId, nodes: { a: "core.noop" }, variables }));
    const workflows = [{ tenant: ADA.tenant, workflowId, hash, definition, atMs: NOW }];
    const run = new WrittenRun(store, built.run);
    run.events.push(...built.events);
    await store.commit({ tenant: ADA.tenant, workflows, runs: [runWrite(built)] });
    return run;
  }

  get runId(): string {
    return this.#run.runId;
  }

  get path(): string {
    return `/v1/runs/${this.runId}/events`;
  }

  /** In one commit. Types that the catalogue does not have yet are let through. */
  async append(
    ...drafts: readonly (EventDraft | { readonly type: string; readonly payload: object })[]
  ): Promise<void> {
    const { runId, version } = this.#run;
    const timestamp = new Date(NOW + version).toISOString();
    const events = drafts.map((draft, i) => {
      return { ...draft, runId, timestamp, eventId: newId("evt"), sequence: version + i } as RunEvent;
    });
    const run = fold(events, this.#run) ?? this.#run;
    this.#run = run;
    this.events.push(...events);
    const committed = await this.#store.commit({ tenant: ADA.tenant, runs: [runWrite({ events, run })] });
    if (!committed.ok) throw new Error(`refused: ${JSON.stringify(committed.refusal)}`);
  }

  /** The stored texts, byte for byte. */
  async bodies(): Promise<string[]> {
    return (await this.#store.readEvents(this.runId, 0, 1_000_000)).map((event) => event.body);
  }

  sequences(admitted: (type: string) => boolean = () => true, after = -1): number[] {
    return this.events.filter((one) => one.sequence > after && admitted(one.type)).map((one) => one.sequence);
  }
}

/** Seeded, so that a failing interleaving can be run again. */
export function randomOf(seed: string): (below: number) => number {
  let state = Number.parseInt(sha256(seed).slice(0, 8), 16);
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 1 | state) + 0x6d2b79f5) | 0;
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}
