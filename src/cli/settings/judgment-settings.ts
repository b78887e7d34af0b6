import type { Setting } from "./settings.ts";

/** Settings of what is kept of runs and of judgments about them. Rows of the table in `settings.ts`. */
export const JUDGMENT_SETTINGS = {
  runRetentionDays: {
    group: "Storage",
    type: "integer",
    default: 0,
    min: 0,
    max: 36_500,
    value: "DAYS",
    summary:
      "How many days a run is kept after its end where its workflow does not say (settings.retentionDays); 0 is for ever.",
  },
  retentionSweepSeconds: {
    group: "Storage",
    type: "integer",
    unit: "seconds",
    default: 3600,
    min: 1,
    max: 604_800,
    value: "SECONDS",
    summary: "How often runs are looked for whose retention is over.",
  },
  queueFillSeconds: {
    group: "Work",
    type: "integer",
    unit: "seconds",
    default: 30,
    min: 1,
    max: 86_400,
    value: "SECONDS",
    summary: "How often review queues that nobody looks at are filled; one that is looked at is filled then.",
  },
  maxReviewBytes: {
    group: "Limits",
    type: "integer",
    unit: "bytes",
    default: 16_777_216,
    min: 1024,
    max: 16_777_216,
    value: "BYTES",
    summary: "The largest request for a review; the protocol has no larger ones.",
  },
  bundleMaxBytes: {
    group: "Limits",
    type: "integer",
    unit: "bytes",
    default: 8_388_608,
    min: 65_536,
    max: 268_435_456,
    value: "BYTES",
    summary: "The largest debug bundle; what has no room in it is left out, beginning with the last events.",
  },
  otlpEndpoint: {
    group: "Server",
    type: "text",
    value: "URL",
    summary: "Where judgments are exported to over OTLP/HTTP, such as http://127.0.0.1:4318; without it none are.",
  },
  otlpHeaders: {
    group: "Server",
    type: "text",
    secret: true,
    value: "LIST",
    summary: "Headers of the export as NAME=VALUE,…, values percent-encoded; rather set in the environment.",
  },
  otlpContent: {
    group: "Server",
    type: "flag",
    default: false,
    summary: "Export what people wrote too: notes, corrections and labels; otherwise ratings and kinds alone.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
