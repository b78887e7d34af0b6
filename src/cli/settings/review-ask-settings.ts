import type { Setting } from "./settings.ts";

const ms = { group: "Reviews", type: "integer", unit: "milliseconds", min: 0, max: 2 ** 31 - 1, value: "MS" } as const;

/** Settings of those who ask for reviews. Rows of the table in `settings.ts`. */
export const REVIEW_ASK_SETTINGS = {
  reviewTimeoutMs: {
    ...ms,
    default: 300_000,
    min: 1,
    summary: "How long a provider may take for one answer; below 90 seconds the retries of opencode are cut off.",
  },
  reviewGraceMs: {
    ...ms,
    default: 10_000,
    summary: "How long a provider's command may take to end after its answer is there.",
  },
  reviewKillMs: {
    ...ms,
    default: 5000,
    summary: "How long a command that is asked to end is waited for before it and all it started are ended.",
  },
  reviewRetryMs: {
    ...ms,
    default: 1000,
    summary: "How long to wait before the second attempt of a turn; before the third it is four times as long.",
  },
  reviewMaxBytes: {
    group: "Reviews",
    type: "integer",
    unit: "bytes",
    default: 67_108_864,
    min: 1024,
    max: 2 ** 30,
    value: "BYTES",
    summary: "The longest stream that is taken from a provider.",
  },
  reviewMaxLines: {
    group: "Reviews",
    type: "integer",
    default: 20_000,
    min: 1,
    max: 10_000_000,
    value: "N",
    summary: "The most lines that are taken from a provider.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
