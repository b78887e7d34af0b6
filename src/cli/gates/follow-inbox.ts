import type { InboxFilter, InboxItem } from "../../protocol/gates/inbox-api.ts";
import type { Input } from "../../sdk/input.ts";
import type { StreamOptions } from "../../sdk/settings.ts";
import type { Client } from "../client/client.ts";
import type { FrameOf } from "../client/frame-of.ts";

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

export interface FollowingInbox extends Pick<StreamOptions, "onReconnect" | "patienceMs"> {
  readonly query: Input<InboxFilter>;
  readonly signal: AbortSignal;
  onNews(news: InboxNews): void;
}

/**
 * Hands over what waits and every change of that until `signal` ends it. A server tells everything anew to whoever comes
 * back; only what is new in that is handed over.
 */
export async function followInbox(client: Client, following: FollowingInbox): Promise<void> {
  const { query, onNews, ...options } = following;
  const known = new Map<string, InboxItem>();
  const seen = new Set<string>();
  const onReconnect = (error: Error) => {
    seen.clear();
    following.onReconnect?.(error);
  };
  for await (const frame of client.gates.follow(query, { ...options, onReconnect })) {
    for (const news of newsIn(frame, known, seen)) onNews(news);
  }
}

type Frame = FrameOf<Client["gates"]["follow"]>;

function newsIn({ event, data }: Frame, known: Map<string, InboxItem>, seen: Set<string>): InboxNews[] {
  switch (event) {
    case "inbox.opened":
    case "inbox.updated": {
      const { interruptId } = data;
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
