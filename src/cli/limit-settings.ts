import { bytes, count, ms } from "./setting-units.ts";
import type { Setting } from "./settings.ts";

/** What a host takes at most. Rows of the table in `settings.ts`. */
export const LIMIT_SETTINGS = {
  rateLimit: {
    group: "Limits",
    type: "integer",
    default: 0,
    min: 0,
    max: 1_000_000,
    unit: "per second",
    value: "N",
    summary: "Requests a key may make; 0 is no limit.",
  },
  maxConnections: { ...count, group: "Limits", default: 10_000, summary: "Open connections; more are refused." },
  maxStreams: { ...count, group: "Limits", default: 4096, summary: "Event streams followed at the same time." },
  maxRequestBodyBytes: { ...bytes, group: "Limits", default: 1_048_576, summary: "The largest request body." },
  maxTapeBytes: {
    ...bytes,
    group: "Limits",
    default: 67_108_864,
    max: 268_435_456,
    summary: "The largest request that brings a tape, a sidecar or a body of one.",
  },
  maxPackBytes: {
    ...bytes,
    group: "Limits",
    default: 16_777_216,
    max: 67_108_864,
    summary: "The largest request that brings a pack of agents.",
  },
  maxJsonDepth: { ...count, group: "Limits", default: 64, max: 1000, summary: "How deep JSON in a request may nest." },
  maxJsonElements: {
    ...count,
    group: "Limits",
    default: 100_000,
    max: 10_000_000,
    summary: "How many values and members JSON in a request may have.",
  },
  maxRunBytes: {
    ...bytes,
    group: "Limits",
    default: 0,
    min: 0,
    summary:
      "The largest run, as JSON; a run that grows larger fails with run_too_large. 0: 64 MB, or a sixteenth of the heap if that is less.",
  },
  maxBytesInHand: {
    ...bytes,
    group: "Limits",
    default: 0,
    min: 0,
    max: 2 ** 36,
    summary:
      "What large runs in hand and large reads may hold together; runs and requests beyond it wait. 0: a quarter of the heap.",
  },
  maxHeaderBytes: { ...bytes, group: "Limits", default: 16_384, max: 1_048_576, summary: "The largest request head." },
  headersTimeoutMs: {
    ...ms,
    group: "Limits",
    default: 15_000,
    min: 100,
    summary: "How long a client may take to send the head of a request.",
  },
  requestTimeoutMs: {
    ...ms,
    group: "Limits",
    default: 30_000,
    min: 100,
    summary: "How long a client may take to send a request.",
  },
  idleConnectionMs: {
    ...ms,
    group: "Limits",
    default: 72_000,
    min: 100,
    summary: "How long an idle connection is kept for its next request; longer than proxies usually keep theirs.",
  },
  keepAliveMs: {
    ...ms,
    group: "Limits",
    default: 15_000,
    min: 100,
    max: 30_000,
    summary: "How often a silent event stream carries a comment, so that nobody thinks it dead.",
  },
  streamBufferBytes: {
    ...bytes,
    group: "Limits",
    default: 1_048_576,
    summary: "What may wait in memory for a slow reader of an event stream; the rest is read from the store.",
  },
  streamStallMs: {
    ...ms,
    group: "Limits",
    default: 60_000,
    min: 100,
    summary: "How long a reader of an event stream may take nothing before it is disconnected.",
  },
  keyCacheMs: {
    ...ms,
    group: "Limits",
    default: 1000,
    min: 0,
    summary: "How long what is known of an API key is believed when the notice of a change got lost.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
