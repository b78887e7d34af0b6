import type { InboxItem } from "../../protocol/gates/inbox-api.ts";
import type { Client } from "../client/client.ts";
import { keepReading, type Reading } from "../client/keep-reading.ts";
import type { Frame } from "../client/server-sent-events.ts";

/** `status` is `unknown` for what was closed while the connection was away. */
export type InboxNews =
  | { readonly event: "inbox.opened" | "inbox.updated"; readonly data: InboxItem }
  | {
      readonly event: "inbox.closed";
      readonly data: {
        readonly interruptId: string;
        readonly runId: string;
        readonly status: string;
        readonly outcome?: string;
      };
    };

export interface FollowingInbox extends Pick<Reading, "onReconnect" | "signal" | "patienceMs" | "firstDelayMs"> {
  readonly query: Readonly<Record<string, string | undefined>>;
  onNews(news: InboxNews): void;
}

/**
 * Hands over what waits and every change of that until `signal` ends it. A server tells everything anew to whoever comes
 * back; only what is new in that is handed over.
 */
export function followInbox(client: Client, following: FollowingInbox): Promise<void> {
  const { query, signal, onNews } = following;
  const known = new Map<string, InboxItem>();
  const seen = new Set<string>();
  return keepReading({
    ...following,
    open: () => {
      seen.clear();
      const headers = { accept: "text/event-stream" };
      return client.open("/v1/host/assay/inbox/events", { query, headers }, signal);
    },
    onFrame: (frame) => {
      for (const news of newsIn(frame, known, seen)) onNews(news);
    },
    isOver: () => false,
  });
}

function newsIn({ event, data: text }: Frame, known: Map<string, InboxItem>, seen: Set<string>): InboxNews[] {
  const data = JSON.parse(text);
  switch (event) {
    case "inbox.opened":
    case "inbox.updated": {
      const { interruptId } = data as InboxItem;
      const before = known.get(interruptId);
      known.set(interruptId, data);
      seen.add(interruptId);
      if (before === undefined) return [{ event: "inbox.opened", data }];
      return sameVotes(before, data) ? [] : [{ event: "inbox.updated", data }];
    }
    case "inbox.closed":
      return known.delete(data.interruptId) ? [{ event, data }] : [];
    case "inbox.snapshot": {
      const gone = [...known.values()].filter(({ interruptId }) => !seen.has(interruptId));
      for (const { interruptId } of gone) known.delete(interruptId);
      return gone.map(({ interruptId, runId }) => ({
        event: "inbox.closed",
        data: { interruptId, runId, status: "unknown" },
      }));
    }
    default:
      return [];
  }
}

function sameVotes(a: InboxItem, b: InboxItem): boolean {
  return JSON.stringify(a.votes) === JSON.stringify(b.votes);
}
