import { type EventRange, eventPages } from "../../engine/runs/event-pages.ts";
import type { Store } from "../../store/port/store.ts";
import type { Reply, RequestContext } from "../pipeline/handler.ts";
import { sendList } from "../pipeline/send-list.ts";
import type { RunFeeds } from "./run-feeds.ts";

export interface EventArray extends EventRange {
  /** The texts around the array's elements. */
  readonly before: string;
  readonly after: string;
}

/** A JSON answer with all events of the range, from the stored texts as they are. */
export function sendEvents(
  context: RequestContext,
  { settings: { stallMs } }: Pick<RunFeeds, "settings">,
  answer: EventArray,
): Promise<Reply> {
  const { before, after } = answer;
  return sendList(context, { before, items: bodies(context.host.store, answer), after, stallMs });
}

async function* bodies(store: Store, range: EventRange): AsyncGenerator<readonly string[]> {
  for await (const page of eventPages(store, range)) yield page.map(({ body }) => body);
}
