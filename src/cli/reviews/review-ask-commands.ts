import type { DECISIONS } from "../../formats/reviews/request.ts";
import { type AnyCommand, type Arg, command, type Flags } from "../program/command.ts";
import type { SettingName } from "../settings/settings.ts";

const LIMITS: readonly SettingName[] = [
  "reviewTimeoutMs",
  "reviewGraceMs",
  "reviewKillMs",
  "reviewRetryMs",
  "reviewMaxBytes",
  "reviewMaxLines",
];
const ASK: readonly SettingName[] = ["url", "key", ...LIMITS];

const REVIEW: Arg = {
  name: "REVIEW",
  summary: "The name of a review, the beginning of one, or the path of its folder.",
};
const FILE: Arg = { name: "FILE", summary: "The piece of work, a text in UTF-8." };

const DIR = { type: "text", value: "DIR", summary: "Where reviews are kept; .assay/reviews unless given." } as const;
const MEDIA_TYPE = { type: "text", value: "TYPE", summary: "What FILE holds; else its name tells." } as const;
const REF = {
  type: "text",
  value: "REF",
  summary: "A version mark for FILE; else the SHA-256 of its content.",
} as const;

const PROVIDER_FLAGS = {
  command: { type: "text", value: "PROGRAM", summary: "Who reviews; opencode unless a program or a --url is given." },
  arg: { type: "list", value: "ARG", summary: "An argument of PROGRAM, before those it is called with; repeatable." },
  agent: { type: "text", value: "NAME", summary: "The agent to ask for; qualitative-reviewer unless given." },
  workDir: { type: "text", value: "DIR", summary: "Where PROGRAM runs, in every turn; here unless given." },
  passDir: { type: "switch", summary: "Call PROGRAM with --dir and --title, as opencode is." },
  allowOtherAgent: {
    type: "switch",
    summary: "Take an answer also when another agent than the one asked for gave it.",
  },
  strict: { type: "switch", summary: "Refuse answers with small faults instead of warning of them." },
  requireCleanExit: { type: "switch", summary: "Take answers only of a PROGRAM that ended as it should." },
} as const satisfies Flags;

const CONVERSATION_FLAGS = {
  mediaType: MEDIA_TYPE,
  ...PROVIDER_FLAGS,
  dir: DIR,
  artifactRef: REF,
  maxIterations: { type: "integer", value: "N", min: 1, summary: "How many answers at most; 5 unless given." },
  maxTokens: { type: "integer", value: "N", min: 1, summary: "Stop when the models behind the answers took more." },
  maxCost: { type: "text", value: "AMOUNT", summary: "Stop when they cost more, in the provider's currency." },
  maxTimeMs: { type: "integer", value: "MS", min: 1, summary: "Stop when the answers took longer, all together." },
  restartLostSession: {
    type: "switch",
    summary: "Begin anew when the provider has lost the session, without the decisions; else that is a failure.",
  },
} as const satisfies Flags;

const TURN_EXITS = { 0: "answered, or over before anything was sent", 1: "no usable answer came, after all retries" };
const NOTE =
  "A provider is any program with the stream of `opencode run --format json`, or a server of Assay (--url, with an API key). It is given one request on " +
  "standard input, and --agent, --format json and, from the second turn on, --session.";

export const REVIEW_START_FLAGS = CONVERSATION_FLAGS;

const start = command({
  name: "review start",
  summary: "Ask a peer what should change in a piece of work.",
  about: `${NOTE} The remarks are listed with their ids; decide on each, change the work, and ask again with \`review next\`.`,
  args: [FILE],
  flags: REVIEW_START_FLAGS,
  settings: ASK,
  examples: [
    "assay review start plan.md",
    "assay review start plan.md --command assay --arg review --arg provide",
    "assay review start plan.md --url http://127.0.0.1:4100",
  ],
  exits: TURN_EXITS,
  load: async () => (await import("./review-start.ts")).startReview,
});

// The words of the protocol once more: help texts must not load it. The compiler compares the lists.
const STATUSES: typeof DECISIONS = ["accepted", "rejected", "partial"];

export const REVIEW_DECIDE_FLAGS = {
  reasonCode: {
    type: "text",
    value: "CODE",
    summary: "Why it was rejected: out_of_scope, infeasible, already_done, disagree, duplicate, deferred, or another.",
  },
  explanation: { type: "text", value: "TEXT", summary: "The same for people; a partial decision needs one." },
  dir: DIR,
} as const satisfies Flags;

const decide = command({
  name: "review decide",
  summary: "Say what you make of a remark; it is sent with the next turn.",
  about:
    "The choice is yours. accepted: carried out as recommended. partial: something was done because of it. rejected: not carried " +
    "out; give a reason. A decision that was not sent yet can be replaced.",
  args: [
    REVIEW,
    {
      name: "REMARK",
      summary: "A remark as `review show` prints it: its number, its id, or a beginning that only one has.",
    },
    { name: "DECISION", summary: `One of ${STATUSES.join(", ")}.` },
  ],
  flags: REVIEW_DECIDE_FLAGS,
  settings: [],
  examples: [
    "assay review decide plan-md-k3f9q2 1 accepted",
    "assay review decide plan-md-k3f9q2 add-rollback-step-01 accepted",
    "assay review decide plan-md-k3f9q2 name-the-owner-02 rejected --reason-code out_of_scope",
  ],
  load: async () => (await import("./review-decide.ts")).decideOnRemark,
});

export const REVIEW_NEXT_FLAGS = {
  dir: DIR,
  artifactRef: REF,
  reopen: { type: "switch", summary: "Go on although the review has ended." },
} as const satisfies Flags;

const next = command({
  name: "review next",
  summary: "Send the changed work with your decisions, and get the next answer.",
  about:
    "Every remark of the last answer needs a decision. A turn that was interrupted is sent again first. Nothing is sent when the work is " +
    "unchanged and everything was rejected, or when it is back at an earlier version.",
  args: [REVIEW, { ...FILE, summary: "The changed piece of work; else the same file as before.", optional: true }],
  flags: REVIEW_NEXT_FLAGS,
  settings: ["key", ...LIMITS],
  examples: ["assay review next plan-md-k3f9q2", "assay review next plan plan-v2.md --json"],
  exits: TURN_EXITS,
  load: async () => (await import("./review-next.ts")).nextTurn,
});

export const REVIEW_SHOW_FLAGS = { dir: DIR } as const satisfies Flags;

const show = command({
  name: "review show",
  summary: "List the reviews, or show where one stands.",
  args: [{ ...REVIEW, optional: true }],
  flags: REVIEW_SHOW_FLAGS,
  settings: [],
  examples: ["assay review show", "assay review show plan-md-k3f9q2 --json"],
  load: async () => (await import("./review-show.ts")).showReviews,
});

export const REVIEW_STATS_FLAGS = { dir: DIR } as const satisfies Flags;

const stats = command({
  name: "review stats",
  summary: "See what became of remarks: accepted, rejected, made again; by reviewer, aspect and reason.",
  args: [{ ...REVIEW, optional: true }],
  flags: REVIEW_STATS_FLAGS,
  settings: [],
  examples: ["assay review stats", "assay review stats plan-md-k3f9q2 --json"],
  load: async () => (await import("./review-stats.ts")).reviewStats,
});

export const REVIEW_TURN_FLAGS = {
  request: { type: "text", value: "FILE", summary: "The request as JSON; - is standard input." },
  session: { type: "text", value: "ID", summary: "The session to go on with." },
  ...PROVIDER_FLAGS,
  noRetry: { type: "switch", summary: "One attempt only." },
} as const satisfies Flags;

const turn = command({
  name: "review turn",
  summary: "Send one request as it is, keep nothing, and say what came of it.",
  about:
    `${NOTE} With --json one object: outcome, sessionID, ids, error_code, tool_error, problems, warnings, response, exit_code, attempts; ` +
    "null where there is nothing to say.",
  args: [],
  flags: REVIEW_TURN_FLAGS,
  settings: ASK,
  examples: ["assay review turn --request request.json --command ./reviewer --no-retry --json"],
  exits: { 0: "response_success", 1: "any other outcome" },
  load: async () => (await import("./review-turn.ts")).takeRawTurn,
});

export const REVIEW_LOOP_FLAGS = {
  onFeedback: {
    type: "text",
    value: "PROGRAM",
    summary: "Gets each answer and returns decisions, and the changed work.",
  },
  onFeedbackArg: { type: "list", value: "ARG", summary: "An argument of that program; repeatable." },
  write: { type: "switch", summary: "Write each changed work to FILE." },
  ...CONVERSATION_FLAGS,
} as const satisfies Flags;

const loop = command({
  name: "review loop",
  summary: "Drive a whole review: a program reacts to each answer until there is nothing left to say.",
  about:
    "The program gets { review, iteration, artifact, response } as JSON on standard input and writes { decisions, artifact? } to standard " +
    "output: one decision { id, status, reason_code?, explanation? } per remark, and the changed work as a text or as { content, media_type?, " +
    "artifact_ref? }. Without an artifact FILE is read again.",
  args: [FILE],
  flags: REVIEW_LOOP_FLAGS,
  settings: ASK,
  examples: ["assay review loop plan.md --on-feedback ./improve --write --max-iterations 3"],
  exits: { 0: "the review converged or was stopped", 1: "no usable answer came, after all retries" },
  load: async () => (await import("./review-loop.ts")).loopReview,
});

export const REVIEW_ASK_COMMANDS: readonly AnyCommand[] = [start, decide, next, show, stats, loop, turn];
