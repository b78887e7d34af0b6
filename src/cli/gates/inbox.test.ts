import { describe, expect, test } from "vitest";
import { connect } from "../client/client.ts";
import { followInbox, type InboxChange } from "./inbox.ts";

function frame(event: string, data: object): string {
  return `event: inbox.${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

const item = (interruptId: string, voters: readonly string[] = []) => ({
  interruptId,
  runId: `run-of-${interruptId}`,
  votes: voters.map((voter) => ({ voter, action: "accept", at: "then" })),
});
const snapshot = (open: number) => frame("snapshot", { open });
const over = (interruptId: string) => ({ interruptId, runId: `run-of-${interruptId}`, status: "resolved" });

/** Follows a server whose streams break off as given, until it has no more and is given up. */
async function follow(...streams: string[]): Promise<string[]> {
  const changes: string[] = [];
  const fetch = async (url: string) => {
    expect(url).toBe("http://x/v1/host/assay/inbox/events?kind=approval");
    const next = streams.shift();
    return next === undefined
      ? Response.json({ error: "forbidden", message: "no more" }, { status: 403 })
      : new Response(next);
  };
  const following = followInbox(connect({ url: "http://x", key: undefined, timeoutMs: 5000, fetch }), {
    query: { kind: "approval" },
    signal: new AbortController().signal,
    onChange: ({ event, data }: InboxChange) => {
      const status = "status" in data ? ` ${data.status}` : "";
      changes.push(`${event.slice(6)} ${data.interruptId}${status}`);
    },
  });
  await expect(following).rejects.toThrow("no more");
  return changes;
}

describe("following the inbox", () => {
  test("passes on what is open and every change", async () => {
    const live =
      frame("opened", item("a")) + snapshot(1) + frame("opened", item("b")) + frame("updated", item("b", ["x"]));
    expect(await follow(live + frame("closed", over("a")))).toEqual([
      "opened a",
      "opened b",
      "updated b",
      "closed a resolved",
    ]);
  });

  test("after a lost connection passes on only changes", async () => {
    const first = frame("opened", item("a")) + frame("opened", item("b")) + frame("opened", item("c")) + snapshot(3);
    const again =
      frame("opened", item("b", ["x"])) + frame("opened", item("c")) + frame("opened", item("d")) + snapshot(3);
    expect(await follow(first, again)).toEqual([
      "opened a",
      "opened b",
      "opened c",
      "updated b",
      "opened d",
      "closed a unknown",
    ]);
  });

  test("reports nothing as closed before the server has sent all open interrupts", async () => {
    const first = frame("opened", item("a")) + frame("opened", item("b")) + snapshot(2);
    expect(await follow(first, frame("opened", item("b")), frame("opened", item("a")) + snapshot(1))).toEqual([
      "opened a",
      "opened b",
      "closed b unknown",
    ]);
  });

  test("ignores frames it does not know", async () => {
    expect(await follow(`event: later.version\ndata: {}\n\n${frame("closed", over("z"))}`)).toEqual([]);
  });
});
