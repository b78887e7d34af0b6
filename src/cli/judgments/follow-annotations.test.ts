import { expect, test } from "vitest";
import { connect } from "../client/client.ts";
import { followAnnotations } from "./follow-annotations.ts";

const frame = (change: string, annotationId: string) =>
  `id: ${annotationId}.${change}\nevent: annotation.${change}\ndata: ${JSON.stringify({ annotationId })}\n\n`;

/** Follows a server whose streams break off as told, until it has no more and is given up. */
async function follow(...streams: string[]) {
  const news: string[] = [];
  const resumed: (string | null)[] = [];
  const fetch = async (url: string, { headers }: RequestInit) => {
    expect(url).toBe("http://x/v1/host/assay/annotations/events?signal=flag");
    resumed.push(new Headers(headers).get("last-event-id"));
    const next = streams.shift();
    return next === undefined
      ? Response.json({ error: "forbidden", message: "no more" }, { status: 403 })
      : new Response(next);
  };
  const following = followAnnotations(connect({ url: "http://x", key: undefined, timeoutMs: 5000, fetch }), {
    query: { signal: "flag" },
    signal: new AbortController().signal,
    onNews: ({ event, data }) => news.push(`${event} ${data.annotationId}`),
  });
  await expect(following).rejects.toThrow("no more");
  return { news, resumed };
}

test("every change is handed over, and a broken stream is taken up after the last of them", async () => {
  const { news, resumed } = await follow(
    `:ok\n\nid: at-7.0\n\n${frame("recorded", "a")}${frame("retracted", "a")}`,
    `id: a.retracted\n\n${frame("recorded", "b")}event: annotation.rec`,
  );
  expect(news).toEqual(["annotation.recorded a", "annotation.retracted a", "annotation.recorded b"]);
  expect(resumed).toEqual([null, "a.retracted", "b.recorded"]);
});

test("a stream that broke before anything came is taken up where it began", async () => {
  const { resumed } = await follow(":ok\n\nid: at-7.0\n\n", ":keepalive\n\n");
  expect(resumed).toEqual([null, "at-7.0", "at-7.0"]);
});

test("frames of a later version that it does not know are passed over", async () => {
  expect((await follow("event: other\ndata: {}\n\n")).news).toEqual([]);
});
