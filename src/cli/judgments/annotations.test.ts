import { expect, test } from "vitest";
import { connect } from "../client/client.ts";
import { annotationChanges } from "./annotations.ts";

const frame = (change: string, annotationId: string) =>
  `id: ${annotationId}.${change}\nevent: annotation.${change}\ndata: ${JSON.stringify({ annotationId })}\n\n`;

/** Follows a server that sends these streams, each of which breaks off, and then refuses. */
async function follow(...streams: string[]) {
  const changes: string[] = [];
  const resumed: (string | null)[] = [];
  const fetch = async (url: string, { headers }: RequestInit) => {
    expect(url).toBe("http://x/v1/host/assay/annotations/events?signal=flag");
    resumed.push(new Headers(headers).get("last-event-id"));
    const next = streams.shift();
    return next === undefined
      ? Response.json({ error: "forbidden", message: "no more" }, { status: 403 })
      : new Response(next);
  };
  const { judgments } = connect({ url: "http://x", key: undefined, timeoutMs: 5000, fetch });
  const follow = async () => {
    for await (const { event, data } of annotationChanges(judgments, { signal: "flag" }, {})) {
      changes.push(`${event} ${data.annotationId}`);
    }
  };
  await expect(follow()).rejects.toThrow("no more");
  return { changes, resumed };
}

test("a broken stream resumes after its last change, and no change is lost", async () => {
  const { changes, resumed } = await follow(
    `:ok\n\nid: at-7.0\n\n${frame("recorded", "a")}${frame("retracted", "a")}`,
    `id: a.retracted\n\n${frame("recorded", "b")}event: annotation.rec`,
  );
  expect(changes).toEqual(["annotation.recorded a", "annotation.retracted a", "annotation.recorded b"]);
  expect(resumed).toEqual([null, "a.retracted", "b.recorded"]);
});

test("a stream that broke before its first change resumes at its beginning", async () => {
  const { resumed } = await follow(":ok\n\nid: at-7.0\n\n", ":keepalive\n\n");
  expect(resumed).toEqual([null, "at-7.0", "at-7.0"]);
});

test("unknown frames of a later version are ignored", async () => {
  expect((await follow("event: other\ndata: {}\n\n")).changes).toEqual([]);
});
