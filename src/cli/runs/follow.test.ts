import { describe, expect, test } from "vitest";
import { type Client, connect } from "../client/client.ts";
import { type Following, followRun } from "./follow.ts";

type Connection = string | Error | Response;

/** A server whose streams break off as given; remembers from where each was asked for. */
function server(...connections: Connection[]) {
  const asked: (string | null)[] = [];
  const fetch = async (_: string, { headers }: RequestInit) => {
    asked.push(new Headers(headers).get("last-event-id"));
    const next = connections.shift() ?? new TypeError("fetch failed", { cause: new Error("gone") });
    if (next instanceof Error) throw next;
    return next instanceof Response ? next : new Response(next);
  };
  return { asked, client: connect({ url: "http://x", key: undefined, timeoutMs: 5000, fetch }) };
}

function frame(sequence: number, type: string): string {
  return `id: ${sequence}\nevent: ${type}\ndata: ${JSON.stringify({ type, sequence })}\n\n`;
}

const away = new TypeError("fetch failed", { cause: new Error("connection refused") });

async function follow(client: Client, more: Partial<Following> = {}) {
  const seen: number[] = [];
  const end = await followRun(client, {
    runId: "run-1",
    mode: "updates",
    signal: new AbortController().signal,
    onEvent: (event) => seen.push(event.sequence),
    ...more,
  });
  return { seen, end };
}

describe("following a run", () => {
  test("hands over every event and ends with the run", async () => {
    const { client, asked } = server(frame(0, "run.started") + frame(3, "node.completed") + frame(4, "run.completed"));
    expect(await follow(client)).toEqual({ seen: [0, 3, 4], end: "run.completed" });
    expect(asked).toEqual([null]);
  });

  test("goes on after the last event it saw when the connection breaks", async () => {
    const half = frame(2, "node.completed").slice(0, -8);
    const { client, asked } = server(
      frame(0, "run.started") + half,
      away,
      frame(2, "node.completed"),
      frame(5, "run.failed"),
    );
    const told: string[] = [];
    const { seen, end } = await follow(client, { onReconnect: ({ message }) => told.push(message) });
    expect({ seen, end }).toEqual({ seen: [0, 2, 5], end: "run.failed" });
    expect(asked).toEqual([null, "0", "0", "2"]);
    expect(told).toHaveLength(3);
  });

  test("skips frames that are not part of the log, and repetitions", async () => {
    const { client } = server(
      `event: run.annotated\ndata: {}\n\n${frame(0, "run.started")}data: {}\n\n${frame(1, "run.cancelled")}`,
    );
    expect(await follow(client)).toEqual({ seen: [0, 1], end: "run.cancelled" });
  });

  test("fails at once when the server never answered, or says no", async () => {
    await expect(follow(server(away).client)).rejects.toThrow("connection refused");
    const message = "There is no run here that this key can see.";
    const refusal = Response.json({ error: "not_found", message }, { status: 404 });
    await expect(follow(server(frame(0, "run.started"), refusal).client)).rejects.toThrow("no run here");
  });

  test("gives up on a server that stays away", async () => {
    const { client } = server(frame(0, "run.started"));
    await expect(follow(client, { patienceMs: 20 })).rejects.toThrow("gone");
  });

  test("ends quietly when nobody reads any more", async () => {
    const stop = new AbortController();
    const { client } = server(frame(0, "run.started"));
    const following = follow(client, { signal: stop.signal, onReconnect: () => stop.abort() });
    expect(await following).toEqual({ seen: [0], end: undefined });
  });
});
