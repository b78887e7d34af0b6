import { bytes, count, folders, inGroup, ms, off, port, seconds, url } from "./setting.ts";

/** What a host does, and who asks it: rows of the table in `settings.ts`. */
export const AGENT_SETTINGS = inGroup("Agents", {
  agents: {
    type: "path",
    value: "FILE",
    summary: "A JSON file that says how agents are called: by which model, program, endpoint or script.",
  },
  packs: {
    ...folders,
    summary: "Folders of agent packs, each a folder or an archive, that are installed for every tenant at start.",
  },
  publisherKeys: {
    type: "path",
    value: "FILE",
    summary:
      "A JSON file of the public keys that packs may be signed with; a pack that none of them signed is refused.",
  },
  allowUnsigned: {
    ...off,
    summary: "Install packs without a signature too; a signature that does not fit is refused all the same.",
  },
  toolsUrl: {
    ...url,
    summary:
      "The address under which HTTP agents on other machines reach the tool gateway of this process, such as that of a proxy or tunnel; without it they are offered no tools.",
  },
  toolsPort: {
    ...port,
    default: 0,
    summary: "The loopback port of the tool gateway, for a proxy or tunnel that leads to it; 0 takes a free one.",
  },
  maxTasksPerSuite: { ...count, default: 10_000, max: 100_000, summary: "Tasks an evaluation may have at most." },
  maxCostUsdPerSuite: {
    type: "text",
    value: "USD",
    summary:
      "The most that an evaluation may spend, in US dollars; it is stopped when it has. Without it there is no cap.",
  },
  evalConcurrency: {
    ...count,
    default: 4,
    max: 1000,
    summary: "Tasks of an evaluation that run at the same time, unless its start names another number.",
  },
  maxEvalConcurrency: {
    ...count,
    default: 64,
    max: 1000,
    summary: "The most tasks at the same time that an evaluation may ask for.",
  },
  maxTrials: {
    ...count,
    default: 100,
    max: 10_000,
    summary: "How often a task of an evaluation may be tried at most.",
  },
  evalCacheSeconds: {
    ...seconds,
    default: 30 * 86_400,
    summary: "How long a result may stand in for a new one in evaluations that ask for the cache.",
  },
});

const YEAR_SECONDS = 31_536_000;

export const GATE_SETTINGS = inGroup("Gates", {
  tokenKeys: {
    type: "text",
    secret: true,
    value: "LIST",
    summary:
      "Keys of interrupt tokens as KID:SECRET,…: the first signs, all verify; without it one is kept in the database; rather set in the environment.",
  },
  gateTimeout: {
    ...seconds,
    default: 0,
    min: 0,
    max: YEAR_SECONDS,
    summary: "When an approval that sets no time limit of its own counts as rejected; 0 is never.",
  },
  tokenTtl: {
    ...seconds,
    default: 1800,
    max: YEAR_SECONDS,
    summary: "How long an interrupt token is good for when its interrupt does not end sooner.",
  },
  eventRetention: {
    ...seconds,
    default: 86_400,
    max: YEAR_SECONDS,
    summary:
      "How long an external event is known when it comes again, and can be held at most for a run that does not wait yet.",
  },
  knownVoters: {
    type: "flag",
    default: true,
    summary: "Take relayed votes only for principals that have a key here; not with --conformance-seams.",
    off: "Take relayed votes for any name that a relay gives.",
  },
  trustedRelays: {
    type: "text",
    value: "LIST",
    summary: "Relays whose votes for people count toward minHumans, as TENANT/PRINCIPAL,…; none unless given.",
  },
});

export const WEBHOOK_SETTINGS = inGroup("Webhooks", {
  publicUrl: {
    ...url,
    summary: "The address under which others reach this host, for links in callbacks; else the one it listens on.",
  },
  allowPrivateWebhooks: {
    ...off,
    summary: "Let webhooks and callbacks go to plain HTTP and private addresses; for development only.",
  },
  webhookTimeoutMs: {
    ...ms,
    default: 5000,
    min: 100,
    max: 60_000,
    summary: "How long a receiver may take to answer a delivery.",
  },
  webhookAttempts: { ...count, default: 8, max: 100, summary: "How often a delivery is attempted before it is dead." },
  webhookRetryMs: {
    ...ms,
    default: 1000,
    min: 1,
    summary:
      "How long after the first failed attempt a delivery is attempted again; each further wait is four times as long.",
  },
  webhookRetryMaxMs: {
    ...ms,
    default: 3_600_000,
    min: 1,
    summary: "The longest wait between two attempts of a delivery, and for a webhook whose receiver keeps failing.",
  },
});

/** First those of commands that ask for reviews, then those of reviewers. */
export const REVIEW_SETTINGS = inGroup("Reviews", {
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
  reviewMaxBytes: { ...bytes, default: 67_108_864, summary: "The longest stream that is taken from a provider." },
  reviewMaxLines: {
    ...count,
    default: 20_000,
    max: 10_000_000,
    summary: "The most lines that are taken from a provider.",
  },
  reviewer: {
    type: "reviewers",
    default: [],
    value: "NAME=WHO",
    summary:
      "The reviewer behind a name: NAME=builtin, NAME=model, NAME=model:MODEL or NAME=command:PROGRAM ARG…; may be repeated, and is separated by semicolons in the environment.",
  },
  reviewerEnv: {
    type: "text",
    value: "NAMES",
    summary:
      "Variables, separated by commas, that programs which review for this server see besides PATH, HOME, LANG, TZ and TMPDIR.",
  },
  reviewerTimeoutMs: {
    ...ms,
    default: 240_000,
    min: 1,
    max: 3_600_000,
    summary: "How long a reviewer may take for one turn; then it is ended, and the answer is INTERNAL_ERROR.",
  },
  reviewModel: {
    type: "text",
    value: "MODEL",
    summary:
      "The model that reviews as qualitative-reviewer; without it a check by fixed rules answers, which needs no network and is no review.",
  },
  reviewModelUrl: {
    ...url,
    summary:
      "Where that model is served in the OpenAI-compatible chat format, such as http://127.0.0.1:11434/v1; artifacts are sent there.",
  },
  reviewModelKeyEnv: {
    type: "text",
    default: "ASSAY_REVIEW_MODEL_KEY",
    value: "NAME",
    summary: "The environment variable that holds the API key of the model; keys are taken from nowhere else.",
  },
  reviewModelTimeoutMs: {
    ...ms,
    default: 120_000,
    min: 100,
    max: 3_600_000,
    summary: "How long the model may take for one answer.",
  },
  reviewModelAttempts: {
    ...count,
    default: 4,
    max: 20,
    summary: "How often the model is asked when it is busy or fails, with growing waits or those it asks for.",
  },
});

export const CLIENT_SETTINGS = inGroup("Client", {
  url: { ...url, default: "http://127.0.0.1:4100", summary: "The server that client commands talk to." },
  key: {
    type: "text",
    secret: true,
    value: "KEY",
    summary: "The API key of client commands; rather set in the environment, since others can see command lines.",
  },
  timeoutMs: { ...ms, default: 30_000, min: 1, summary: "How long a client command waits for an answer." },
  author: {
    type: "text",
    value: "ID",
    summary: "The author that `tape annotate` writes to annotations of tapes; without it none is named.",
  },
});
