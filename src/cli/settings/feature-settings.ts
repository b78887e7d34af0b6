import { bytes, count, folders, inGroup, ms, off, path, port, seconds, secret, text, url } from "./setting.ts";

/** What a host does, and who asks it: rows of the table in `settings.ts`. */
export const AGENT_SETTINGS = inGroup("Agents", {
  agents: path("FILE", "A JSON file that says how agents are called: by which model, program, endpoint or script."),
  packs: folders("Folders of agent packs, each a folder or an archive, that are installed for every tenant at start."),
  publisherKeys: path(
    "FILE",
    "A JSON file of the public keys that packs may be signed with; a pack that none of them signed is refused.",
  ),
  allowUnsigned: off("Install packs without a signature too; a signature that does not fit is refused all the same."),
  toolsUrl: url(
    "The address under which HTTP agents on other machines reach the tool gateway of this process, such as that of a proxy or tunnel; without it they are offered no tools.",
  ),
  toolsPort: port(
    0,
    "The loopback port of the tool gateway, for a proxy or tunnel that leads to it; 0 takes a free one.",
  ),
  maxTasksPerSuite: count(10_000, "Tasks an evaluation may have at most.", { max: 100_000 }),
  maxCostUsdPerSuite: text(
    "USD",
    "The most that an evaluation may spend, in US dollars; it is stopped when it has. Without it there is no cap.",
  ),
  evalConcurrency: count(
    4,
    "Tasks of an evaluation that run at the same time, unless its start names another number.",
    { max: 1000 },
  ),
  maxEvalConcurrency: count(64, "The most tasks at the same time that an evaluation may ask for.", { max: 1000 }),
  maxTrials: count(100, "How often a task of an evaluation may be tried at most.", { max: 10_000 }),
  evalCacheSeconds: seconds(
    30 * 86_400,
    "How long a result may stand in for a new one in evaluations that ask for the cache.",
  ),
});

const YEAR_SECONDS = 31_536_000;

export const GATE_SETTINGS = inGroup("Gates", {
  tokenKeys: secret(
    "LIST",
    "Keys of interrupt tokens as KID:SECRET,…: the first signs, all verify; without it one is kept in the database; rather set in the environment.",
  ),
  gateTimeout: seconds(0, "When an approval that sets no time limit of its own counts as rejected; 0 is never.", {
    min: 0,
    max: YEAR_SECONDS,
  }),
  tokenTtl: seconds(1800, "How long an interrupt token is good for when its interrupt does not end sooner.", {
    max: YEAR_SECONDS,
  }),
  eventRetention: seconds(
    86_400,
    "How long an external event is known when it comes again, and can be held at most for a run that does not wait yet.",
    { max: YEAR_SECONDS },
  ),
  knownVoters: {
    type: "flag",
    default: true,
    summary: "Take relayed votes only for principals that have a key here; not with --conformance-seams.",
    off: "Take relayed votes for any name that a relay gives.",
  },
  trustedRelays: text(
    "LIST",
    "Relays whose votes for people count toward minHumans, as TENANT/PRINCIPAL,…; none unless given.",
  ),
});

export const WEBHOOK_SETTINGS = inGroup("Webhooks", {
  publicUrl: url("The address under which others reach this host, for links in callbacks; else the one it listens on."),
  allowPrivateWebhooks: off("Let webhooks and callbacks go to plain HTTP and private addresses; for development only."),
  webhookTimeoutMs: ms(5000, "How long a receiver may take to answer a delivery.", { min: 100, max: 60_000 }),
  webhookAttempts: count(8, "How often a delivery is attempted before it is dead.", { max: 100 }),
  webhookRetryMs: ms(
    1000,
    "How long after the first failed attempt a delivery is attempted again; each further wait is four times as long.",
    { min: 1 },
  ),
  webhookRetryMaxMs: ms(
    3_600_000,
    "The longest wait between two attempts of a delivery, and for a webhook whose receiver keeps failing.",
    { min: 1 },
  ),
});

/** First those of commands that ask for reviews, then those of reviewers. */
export const REVIEW_SETTINGS = inGroup("Reviews", {
  reviewTimeoutMs: ms(
    300_000,
    "How long a provider may take for one answer; below 90 seconds the retries of opencode are cut off.",
    { min: 1 },
  ),
  reviewGraceMs: ms(10_000, "How long a provider's command may take to end after its answer is there."),
  reviewKillMs: ms(
    5000,
    "How long a command that is asked to end is waited for before it and all it started are ended.",
  ),
  reviewRetryMs: ms(
    1000,
    "How long to wait before the second attempt of a turn; before the third it is four times as long.",
  ),
  reviewMaxBytes: bytes(67_108_864, "The longest stream that is taken from a provider."),
  reviewMaxLines: count(20_000, "The most lines that are taken from a provider.", { max: 10_000_000 }),
  reviewer: {
    type: "reviewers",
    default: [],
    value: "NAME=WHO",
    summary:
      "The reviewer behind a name: NAME=builtin, NAME=model, NAME=model:MODEL or NAME=command:PROGRAM ARG…; may be repeated, and is separated by semicolons in the environment.",
  },
  reviewerEnv: text(
    "NAMES",
    "Variables, separated by commas, that programs which review for this server see besides PATH, HOME, LANG, TZ and TMPDIR.",
  ),
  reviewerTimeoutMs: ms(
    240_000,
    "How long a reviewer may take for one turn; then it is ended, and the answer is INTERNAL_ERROR.",
    { min: 1, max: 3_600_000 },
  ),
  reviewModel: text(
    "MODEL",
    "The model that reviews as qualitative-reviewer; without it a check by fixed rules answers, which needs no network and is no review.",
  ),
  reviewModelUrl: url(
    "Where that model is served in the OpenAI-compatible chat format, such as http://127.0.0.1:11434/v1; artifacts are sent there.",
  ),
  reviewModelKeyEnv: {
    ...text("NAME", "The environment variable that holds the API key of the model; keys are taken from nowhere else."),
    default: "ASSAY_REVIEW_MODEL_KEY",
  },
  reviewModelTimeoutMs: ms(120_000, "How long the model may take for one answer.", { min: 100, max: 3_600_000 }),
  reviewModelAttempts: count(
    4,
    "How often the model is asked when it is busy or fails, with growing waits or those it asks for.",
    { max: 20 },
  ),
});

export const CLIENT_SETTINGS = inGroup("Client", {
  url: { ...url("The server that client commands talk to."), default: "http://127.0.0.1:4100" },
  key: secret(
    "KEY",
    "The API key of client commands; rather set in the environment, since others can see command lines.",
  ),
  timeoutMs: ms(30_000, "How long a client command waits for an answer.", { min: 1 }),
  author: text("ID", "The author that `tape annotate` writes to annotations of tapes; without it none is named."),
});
