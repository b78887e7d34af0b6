import type { Host } from "../../engine/host.ts";
import type { EventRoutes } from "../pipeline/deps.ts";
import { InboxFeeds } from "../streams/inbox-feeds.ts";
import { streamInbox } from "../streams/inbox-stream.ts";
import { JudgmentFeeds } from "../streams/judgment-feeds.ts";
import { streamJudgments } from "../streams/judgment-stream.ts";
import { RunFeeds, type RunFeedsOptions } from "../streams/run-feeds.ts";
import { streamEvents } from "../streams/stream-events.ts";
import type { Sample } from "./metric-registry.ts";
import { pollEvents } from "./poll-events.ts";

/** The routes that follow runs, the inbox and judgments. What they take of this process is counted together. */
export function eventRoutes(host: Host, options: RunFeedsOptions): EventRoutes & { samples(): readonly Sample[] } {
  const feeds = new RunFeeds(host, options);
  const inboxes = new InboxFeeds(host, feeds);
  const judgments = new JudgmentFeeds(host, feeds);
  return {
    streamEvents: streamEvents(feeds),
    pollEvents: pollEvents(feeds),
    streamInbox: streamInbox(inboxes),
    streamJudgments: streamJudgments(judgments),
    openStreams: () => feeds.counts().openStreams,
    close: () => {
      feeds.closeAll();
      inboxes.closeAll();
      judgments.closeAll();
    },
    samples: () => samplesOf(feeds),
  };
}

/** The open streams themselves are a sample of the metrics route. */
function samplesOf(feeds: RunFeeds): Sample[] {
  const { laggingStreams, framesSent } = feeds.counts();
  return [
    {
      name: "assay_event_streams_lagging",
      help: "Event streams whose reader is slow and that are fed from the store.",
      type: "gauge",
      value: laggingStreams,
    },
    {
      name: "assay_event_stream_frames_total",
      help: "Frames sent to event streams, without comments.",
      type: "counter",
      value: framesSent,
    },
  ];
}
