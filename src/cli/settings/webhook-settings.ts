import type { Setting } from "./settings.ts";

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Settings of what is sent to URLs that somebody else named. Rows of the table in `settings.ts`. */
export const WEBHOOK_SETTINGS = {
  publicUrl: {
    group: "Webhooks",
    type: "text",
    value: "URL",
    summary: "The address under which others reach this host, for links in callbacks; else the one it listens on.",
  },
  allowPrivateWebhooks: {
    group: "Webhooks",
    type: "flag",
    default: false,
    summary: "Let webhooks and callbacks go to plain HTTP and private addresses; for development only.",
  },
  webhookTimeoutMs: {
    group: "Webhooks",
    type: "integer",
    unit: "milliseconds",
    default: 5000,
    min: 100,
    max: 60_000,
    value: "MS",
    summary: "How long a receiver may take to answer a delivery.",
  },
  webhookAttempts: {
    group: "Webhooks",
    type: "integer",
    default: 8,
    min: 1,
    max: 100,
    value: "N",
    summary: "How often a delivery is attempted before it is dead.",
  },
  webhookRetryMs: {
    group: "Webhooks",
    type: "integer",
    unit: "milliseconds",
    default: 1000,
    min: 1,
    max: MAX_TIMER_MS,
    value: "MS",
    summary:
      "How long after the first failed attempt a delivery is attempted again; each further wait is four times as long.",
  },
  webhookRetryMaxMs: {
    group: "Webhooks",
    type: "integer",
    unit: "milliseconds",
    default: 3_600_000,
    min: 1,
    max: MAX_TIMER_MS,
    value: "MS",
    summary: "The longest wait between two attempts of a delivery, and for a webhook whose receiver keeps failing.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
