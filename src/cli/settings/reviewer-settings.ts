import type { Setting } from "./settings.ts";

/** Settings of those who review. Rows of the table in `settings.ts`. */
export const REVIEWER_SETTINGS = {
  reviewer: {
    group: "Reviews",
    type: "reviewers",
    default: [],
    value: "NAME=WHO",
    summary:
      "Who reviews under a name: NAME=builtin, NAME=model, NAME=model:MODEL or NAME=command:PROGRAM ARG…; may be repeated, and is separated by semicolons in the environment.",
  },
  reviewerEnv: {
    group: "Reviews",
    type: "text",
    value: "NAMES",
    summary:
      "Variables, separated by commas, that programs which review for this server see beside PATH, HOME, LANG, TZ and TMPDIR.",
  },
  reviewerTimeoutMs: {
    group: "Reviews",
    type: "integer",
    unit: "milliseconds",
    default: 240_000,
    min: 1,
    max: 3_600_000,
    value: "MS",
    summary: "How long a reviewer may take for one turn; then it is ended, and the answer is INTERNAL_ERROR.",
  },
  reviewModel: {
    group: "Reviews",
    type: "text",
    value: "MODEL",
    summary:
      "The model that reviews as qualitative-reviewer; without it a check by fixed rules answers, which needs no network and is no review.",
  },
  reviewModelUrl: {
    group: "Reviews",
    type: "text",
    value: "URL",
    summary:
      "Where that model is served in the OpenAI-compatible chat format, such as http://127.0.0.1:11434/v1; artifacts are sent there.",
  },
  reviewModelKeyEnv: {
    group: "Reviews",
    type: "text",
    default: "ASSAY_REVIEW_MODEL_KEY",
    value: "NAME",
    summary: "The environment variable that holds the API key of the model; keys are taken from nowhere else.",
  },
  reviewModelTimeoutMs: {
    group: "Reviews",
    type: "integer",
    unit: "milliseconds",
    default: 120_000,
    min: 100,
    max: 3_600_000,
    value: "MS",
    summary: "How long the model may take for one answer.",
  },
  reviewModelAttempts: {
    group: "Reviews",
    type: "integer",
    default: 4,
    min: 1,
    max: 20,
    value: "N",
    summary: "How often the model is asked when it is busy or fails, with growing waits or those it asks for.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
