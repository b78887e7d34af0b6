import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { InboxFeeds } from "../http/streams/inbox-feeds.ts";
import type { Caller } from "../protocol/identity/identity.ts";
import { FakeResponse } from "./fake-response.ts";

interface Told {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A reader of a live inbox that takes what waits when the test says so. */
export class InboxReader {
  readonly response = new FakeResponse();

  constructor(feeds: InboxFeeds, caller: Caller) {
    feeds.open({ caller, filter: {}, response: this.response as unknown as ServerResponse });
  }

  get frames(): Told[] {
    return this.response.text
      .split("\n\n")
      .filter((block) => block.startsWith("event"))
      .map((block) => {
        const [event = "", data = ""] = block.split("\n");
        return { event: event.slice("event: ".length), data: JSON.parse(data.slice("data: ".length)) };
      });
  }

  /** The names of the frames about one interrupt, in order. */
  about(interruptId: string): string[] {
    const frames = this.frames.filter(({ data }) => data["interruptId"] === interruptId);
    return frames.map(({ event }) => event.slice("inbox.".length));
  }

  /** What its client would show now. */
  get open(): Map<string, Told["data"]> {
    const open = new Map<string, Told["data"]>();
    for (const { event, data } of this.frames) {
      if (event === "inbox.closed") open.delete(String(data["interruptId"]));
      else if (event !== "inbox.snapshot") open.set(String(data["interruptId"]), data);
    }
    return open;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      this.response.takeAll();
      await sleep(1);
    }
  }

  /** Until everything that was open has been told. */
  told(): Promise<void> {
    return this.until(() => this.frames.some(({ event }) => event === "inbox.snapshot"));
  }
}
