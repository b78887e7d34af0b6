import type { EventStream } from "../../sdk/event-stream.ts";

/** What a stream of the client brings. */
export type FrameOf<Follow extends (...args: never) => unknown> =
  ReturnType<Follow> extends EventStream<infer Frame> ? Frame : never;
