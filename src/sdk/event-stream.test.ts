import { describe, expect, test } from "vitest";
import { connect } from "./connect.ts";
import { ConnectionError, ForbiddenError } from "./errors.ts";
import type { ClientSettings, StreamOptions } from "./settings.ts";

/** What a connection brings: pieces of a stream, then its end; `silent` leaves it open, `broken` cuts it. */
interface Connection {
  readonly text: string;
  readonly end?: "silent" | "broken";
}

const patient: StreamOptions = { retries: 0, patienceMs: 60_000 };

function serving(connections: readonly (Connection | Response)[], rest: Readonly<Record<string, unknown>> = {}) {
  const streams: (string | null)[] = [];
  const others: string[] = [];
  const fetch: ClientSettings["fetch"] = async (url, { headers, signal }) => {
    const { pathname, search } = new URL(url);
    if (!(new Headers(headers).get("accept") ?? "").includes("event-stream")) {
      others.push(pathname + search);
      const answer = rest[pathname.split("/").at(-1) ?? ""];
      return Response.json(typeof answer === "function" ? answer() : answer);
    }
    const connection = connections[Math.min(streams.length, connections.length - 1)];
    streams.push(new Headers(headers).get("last-event-id"));
    if (connection instanceof Response) return connection.clone();
    return new Response(streamOf(connection ?? { text: "" }, signal));
  };
  return { streams, others, assay: connect({ url: "http://host", fetch }) };
}

function streamOf({ text, end }: Connection, signal: AbortSignal | null | undefined): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      signal?.addEventListener("abort", () => controller.error(signal.reason));
      if (end === "broken") setTimeout(() => controller.error(new TypeError("terminated")), 1);
      if (end === undefined) controller.close();
    },
  });
}

function event(sequence: number, type = "node.completed"): string {
  return `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify({ type, sequence, payload: {} })}\n\n`;
}

async function idsOf(frames: AsyncIterable<{ readonly id: string | undefined }>): Promise<(string | undefined)[]> {
  const ids: (string | undefined)[] = [];
  for await (const { id } of frames) ids.push(id);
  return ids;
}

describe("a stream of a run", () => {
  test("ends with the run, and asks for nothing more", async () => {
    const { streams, others, assay } = serving([{ text: event(0) + event(1, "run.completed"), end: "silent" }]);
    expect(await idsOf(assay.runs.follow("r"))).toEqual(["0", "1"]);
    expect([streams, others]).toEqual([[null], []]);
  });

  test("goes on after the last id when it breaks off, and gives each frame once", async () => {
    const first = { text: event(0) + event(1), end: "broken" } as const;
    const { streams, assay } = serving([first, { text: event(1) + event(2) }, { text: event(3, "run.failed") }]);
    const reasons: string[] = [];
    const options = { ...patient, onReconnect: (error: Error) => reasons.push(error.name) };
    expect(await idsOf(assay.runs.follow("r", {}, options))).toEqual(["0", "1", "2", "3"]);
    expect(streams).toEqual([null, "1", "2"]);
    expect(reasons).toEqual(["ConnectionError", "ConnectionError"]);
  });

  test("takes batches apart and passes on frames that have no id", async () => {
    const batch = JSON.stringify([
      { type: "run.started", sequence: 0 },
      { type: "run.completed", sequence: 1 },
    ]);
    const text = `event: run.annotated\ndata: {}\n\nid: 1\nevent: batch\ndata: ${batch}\n\n`;
    expect(await idsOf(serving([{ text }]).assay.runs.follow("r", { bufferMs: 100 }))).toEqual([undefined, "0", "1"]);
  });

  test("that is over when it is resumed is found to be over", async () => {
    const { streams, others, assay } = serving([{ text: ":ok\n\n" }], { r: { status: "completed" } });
    expect(await idsOf(assay.runs.follow("r", {}, { lastEventId: "7" }))).toEqual([]);
    expect([streams, others]).toEqual([["7"], ["/v1/runs/r"]]);
  });

  test("that falls silent is opened anew", async () => {
    const { streams, assay } = serving([{ text: event(0), end: "silent" }, { text: event(1, "run.cancelled") }]);
    expect(await idsOf(assay.runs.follow("r", {}, { ...patient, stallMs: 5 }))).toEqual(["0", "1"]);
    expect(streams).toEqual([null, "0"]);
  });

  test("is polled when connections bring nothing", async () => {
    let polls = 0;
    const poll = () => {
      const events = [
        [
          { type: "run.started", sequence: 0, payload: {} },
          { type: "assay.vote.recorded", sequence: 1, payload: {} },
        ],
        [{ type: "run.completed", sequence: 2, payload: {} }],
      ][polls++];
      return { events, lastSequence: polls === 1 ? 1 : 2, isTerminal: polls === 2 };
    };
    const { others, assay } = serving([{ text: "", end: "silent" }], { poll, r: { status: "running" } });
    // What only `debug` carries is left out, as in a stream.
    expect(await idsOf(assay.runs.follow("r", {}, { ...patient, stallMs: 1 }))).toEqual(["0", "2"]);
    expect(others).toEqual(["/v1/runs/r/events/poll?lastSequence=-1", "/v1/runs/r/events/poll?lastSequence=1"]);
  });

  test("that is refused is not asked for again", async () => {
    const refused = Response.json({ error: "forbidden", message: "No." }, { status: 403 });
    const { streams, assay } = serving([{ text: event(0), end: "broken" }, refused]);
    await expect(idsOf(assay.runs.follow("r", {}, patient))).rejects.toBeInstanceOf(ForbiddenError);
    expect(streams).toHaveLength(2);
  });

  test("of a server that never answered is an error at once", async () => {
    const fetch = async () => Promise.reject(new TypeError("fetch failed"));
    const { runs } = connect({ url: "http://host", fetch, retries: 0 });
    await expect(idsOf(runs.follow("r"))).rejects.toBeInstanceOf(ConnectionError);
  });

  test("is ended by leaving the loop, and by the signal", async () => {
    const { assay } = serving([{ text: event(0), end: "silent" }]);
    for await (const { event: type } of assay.runs.follow("r")) {
      expect(type).toBe("node.completed");
      break;
    }
    const abort = new AbortController();
    for await (const _ of assay.runs.follow("r", {}, { signal: abort.signal })) abort.abort();
    expect(abort.signal.aborted).toBe(true);
  });
});

describe("a stream of judgments", () => {
  test("resumes after an id that came alone", async () => {
    const ids: string[] = [];
    const abort = new AbortController();
    const frame = 'id: ann-1\nevent: annotation.recorded\ndata: {"annotationId":"ann-1"}\n\n';
    const { streams, assay } = serving([{ text: "id: at-1\n\n" }, { text: frame }]);
    const options = { ...patient, signal: abort.signal, onId: (id: string) => ids.push(id) };
    for await (const { data } of assay.judgments.follow({ flagged: "open" }, options)) {
      expect(data.annotationId).toBe("ann-1");
      abort.abort();
    }
    expect([ids, streams]).toEqual([
      ["at-1", "ann-1"],
      [null, "at-1"],
    ]);
  });
});
