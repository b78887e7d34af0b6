import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationEvent } from "../../protocol/judgments/annotation-events.ts";
import type { Client } from "../client/client.ts";
import { keepReading, type Reading } from "../client/keep-reading.ts";

export interface AnnotationNews {
  readonly event: AnnotationEvent;
  readonly data: AnnotationView;
}

export interface FollowingAnnotations extends Pick<Reading, "onReconnect" | "signal" | "patienceMs" | "firstDelayMs"> {
  readonly query: Readonly<Record<string, string | undefined>>;
  onNews(news: AnnotationNews): void;
}

/** Hands over every change from now on until `signal` ends it, each once, however often the connection breaks. */
export function followAnnotations(client: Client, following: FollowingAnnotations): Promise<void> {
  const { query, signal, onNews } = following;
  let lastId: string | undefined;
  return keepReading({
    ...following,
    open: () => {
      const headers = { accept: "text/event-stream", "last-event-id": lastId };
      return client.open("/v1/host/assay/annotations/events", { query, headers }, signal);
    },
    onId: (id) => {
      lastId = id;
    },
    onFrame: ({ event, data }) => {
      if (event.startsWith("annotation.")) onNews({ event: event as AnnotationEvent, data: JSON.parse(data) });
    },
    isOver: () => false,
  });
}
