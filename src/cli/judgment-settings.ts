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
} as const satisfies Readonly<Record<string, Setting>>;
