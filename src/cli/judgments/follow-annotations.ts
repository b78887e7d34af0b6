import type { StreamOptions } from "../../sdk/settings.ts";
import type { Client } from "../client/client.ts";
import type { FrameOf } from "../client/frame-of.ts";

export type AnnotationNews = Pick<FrameOf<Client["judgments"]["follow"]>, "event" | "data">;

export interface FollowingAnnotations extends Pick<StreamOptions, "onReconnect" | "patienceMs"> {
  readonly query: Parameters<Client["judgments"]["follow"]>[0] & object;
  readonly signal: AbortSignal;
  onNews(news: AnnotationNews): void;
}

/** Hands over every change from now on until `signal` ends it, each once, however often the connection breaks. */
export async function followAnnotations(client: Client, following: FollowingAnnotations): Promise<void> {
  const { query, onNews, ...options } = following;
  for await (const { event, data } of client.judgments.follow(query, options)) {
    // A later version may have others.
    if (event.startsWith("annotation.")) onNews({ event, data });
  }
}
