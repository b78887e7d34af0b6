import type { DECISIONS } from "../../formats/reviews/request.ts";
import { type AnyCommand, type Arg, CLIENT, choice, command, integer, list, text, toggle } from "../program/command.ts";
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
const FILE: Arg = { name: "FILE", summary: "The file to review, a text in UTF-8." };

const DIR = text("DIR", "The folder of the reviews; .assay/reviews unless given.");
const MEDIA_TYPE = text("TYPE", "The media type of FILE; derived from its name unless given.");
const REF = text("REF", "A version mark for FILE; the SHA-256 of its content unless given.");

const PROVIDER_FLAGS = {
  command: text("PROGRAM", "The reviewer; opencode unless a program or a --url is given."),
  arg: list("ARG", "An argument of PROGRAM, before those of every call; repeatable."),
  agent: text("NAME", "The agent that reviews; qualitative-reviewer unless given."),
  workDir: text("DIR", "The working directory of PROGRAM in every turn; the current one unless given."),
  passDir: toggle("Call PROGRAM with --dir and --title, like opencode."),
  allowOtherAgent: toggle("Accept an answer that another agent gave."),
  strict: toggle("Refuse answers with minor errors instead of warning about them."),
  requireCleanExit: toggle("Accept an answer only when PROGRAM ended with exit code 0."),
};

const CONVERSATION_FLAGS = {
  mediaType: MEDIA_TYPE,
  ...PROVIDER_FLAGS,
  dir: DIR,
  artifactRef: REF,
  maxIterations: integer("N", 1, "The largest number of answers; 5 unless given."),
  maxTokens: integer("N", 1, "Stop when the answers used more tokens of models."),
  maxCost: text("AMOUNT", "Stop when the answers cost more, in the provider's currency."),
  maxTimeMs: integer("MS", 1, "Stop when the answers took longer in total."),
  restartLostSession: toggle(
    "Start a new session, without the decisions, when the provider has lost it; that is an error otherwise.",
  ),
};

const TURN_EXITS = {
  0: "there is an answer, or the review ended before a request was sent",
  1: "no usable answer, after all retries",
};
const NOTE =
  "A provider is a program that writes the stream of `opencode run --format json`, or an Assay server (--url, with an API key). A program gets one " +
  "request on standard input, and the flags --agent, --format json and, from the second turn on, --session.";

export const REVIEW_START_FLAGS = CONVERSATION_FLAGS;

// A copy, because help texts must not load the format; the compiler compares the lists.
const STATUSES: typeof DECISIONS = ["accepted", "rejected", "partial"];

export const REVIEW_DECIDE_FLAGS = {
  reasonCode: text(
    "CODE",
    "Why it was rejected: out_of_scope, infeasible, already_done, disagree, duplicate, deferred, or another.",
  ),
  explanation: text("TEXT", "Why, as a text; a partial decision requires it."),
  dir: DIR,
};

export const REVIEW_NEXT_FLAGS = {
  dir: DIR,
  artifactRef: REF,
  reopen: toggle("Continue a review that has ended."),
};

export const REVIEW_SHOW_FLAGS = { dir: DIR };

export const REVIEW_TURN_FLAGS = {
  request: text("FILE", "The request as JSON; - is standard input."),
  session: text("ID", "The session to continue."),
  ...PROVIDER_FLAGS,
  noRetry: toggle("One attempt only."),
};

export const REVIEW_LOOP_FLAGS = {
  onFeedback: text("PROGRAM", "A program that gets each answer and returns decisions, and the changed work."),
  onFeedbackArg: list("ARG", "An argument of that program; repeatable."),
  write: toggle("Write each changed work to FILE."),
  ...CONVERSATION_FLAGS,
};

export const REVIEW_PROVIDE_FLAGS = {
  agent: text("NAME", "The reviewer; qualitative-reviewer unless given, and for every unknown name."),
  format: choice(
    "FORMAT",
    ["json", "default"],
    "default prints the answer alone, json as a stream of JSON lines that also names the session.",
  ),
  session: { ...text("ID", "The session to continue; a new one unless given."), short: "s" },
  continue: { ...toggle("Continue the session that was used last."), short: "c" },
  fork: toggle("Continue a copy of the session, under a new id."),
  title: text("TEXT", "Accepted and ignored."),
  model: { ...text("NAME", "Accepted and ignored."), short: "m" },
  dir: text("DIR", "Accepted and ignored: a session works from every directory."),
  state: text("DIR", "The folder of the sessions; .assay/review-sessions in the home directory unless given."),
  reviewerCommand: text(
    "PROGRAM",
    "A program that reviews: it reads JSON on standard input and writes JSON to standard output.",
  ),
  arg: list("ARG", "An argument of that program; may be repeated, and written --arg=--flag."),
  reviewTimeoutMs: integer(
    "MS",
    1,
    "How long a review may take, reviewerTimeoutMs unless given; then the answer is INTERNAL_ERROR.",
  ),
  busyMs: integer("MS", 0, "How long to wait for a session that another call uses, 30000 unless given."),
};

export const REVIEW_SETUP_FLAGS = {
  dir: text("DIR", "The folder of the project; the working directory unless given."),
  force: toggle("Replace a file with other content without asking."),
};

export const REVIEW_INSTRUCTIONS_FLAGS = {
  command: text("PROGRAM", "The reviewer that the agent asks, as for `review start`; opencode unless given."),
  arg: list("ARG", "An argument of that program; may be repeated."),
};

export const REVIEW_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "review start",
    summary: "Request a review of a file from a reviewer.",
    about: `${NOTE} The remarks are listed with their ids; decide on each, change the file, and request the next answer with \`review next\`.`,
    args: [FILE],
    flags: REVIEW_START_FLAGS,
    settings: ASK,
    examples: [
      "assay review start plan.md",
      "assay review start plan.md --command assay --arg review --arg provide",
      "assay review start plan.md --url http://127.0.0.1:4100",
    ],
    exits: TURN_EXITS,
    load: async () => (await import("./ask.ts")).startReview,
  }),
  command({
    name: "review decide",
    summary: "Record a decision on a remark; it is sent with the next turn.",
    about:
      "accepted: the recommendation is carried out. partial: a part of it is. rejected: it is not; give a reason. A decision that was " +
      "not sent yet can be replaced.",
    args: [
      REVIEW,
      {
        name: "REMARK",
        summary: "A remark as `review show` prints it: its number, its id, or an unambiguous beginning of the id.",
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
    load: async () => (await import("./decide.ts")).decideOnRemark,
  }),
  command({
    name: "review next",
    summary: "Send the changed file with your decisions, and get the next answer.",
    about:
      "Every remark of the last answer needs a decision. A turn that was interrupted is sent again first. No request is sent when the file is " +
      "unchanged and every remark was rejected, or when it is the same as an earlier version.",
    args: [REVIEW, { ...FILE, summary: "The changed file; the same file as before unless given.", optional: true }],
    flags: REVIEW_NEXT_FLAGS,
    settings: ["key", ...LIMITS],
    examples: ["assay review next plan-md-k3f9q2", "assay review next plan plan-v2.md --json"],
    exits: TURN_EXITS,
    load: async () => (await import("./ask.ts")).nextTurn,
  }),
  command({
    name: "review show",
    summary: "List the reviews, or show the state of one.",
    args: [{ ...REVIEW, optional: true }],
    flags: REVIEW_SHOW_FLAGS,
    settings: [],
    examples: ["assay review show", "assay review show plan-md-k3f9q2 --json"],
    load: async () => (await import("./show.ts")).showReviews,
  }),
  command({
    name: "review stats",
    summary: "Show how many remarks were accepted, rejected and repeated, by reviewer, aspect and reason.",
    args: [{ ...REVIEW, optional: true }],
    flags: REVIEW_SHOW_FLAGS,
    settings: [],
    examples: ["assay review stats", "assay review stats plan-md-k3f9q2 --json"],
    load: async () => (await import("./show.ts")).reviewStats,
  }),
  command({
    name: "review loop",
    summary: "Run a whole review: a program reacts to each answer until no remarks are left.",
    about:
      "The program gets { review, iteration, artifact, response } as JSON on standard input and writes { decisions, artifact? } to standard " +
      "output: one decision { id, status, reason_code?, explanation? } per remark, and the changed work as a text or as { content, media_type?, " +
      "artifact_ref? }. Without an artifact FILE is read again.",
    args: [FILE],
    flags: REVIEW_LOOP_FLAGS,
    settings: ASK,
    examples: ["assay review loop plan.md --on-feedback ./improve --write --max-iterations 3"],
    exits: { 0: "the review converged or was stopped", 1: "no usable answer, after all retries" },
    load: async () => (await import("./ask.ts")).loopReview,
  }),
  command({
    name: "review turn",
    summary: "Send one request unchanged and show its outcome; nothing is stored.",
    about:
      `${NOTE} With --json one object: outcome, sessionID, ids, error_code, tool_error, problems, warnings, response, exit_code, attempts; ` +
      "null for a member without a value.",
    flags: REVIEW_TURN_FLAGS,
    settings: ASK,
    examples: ["assay review turn --request request.json --command ./reviewer --no-retry --json"],
    exits: { 0: "response_success", 1: "any other outcome" },
    load: async () => (await import("./ask.ts")).takeRawTurn,
  }),
  command({
    name: "review provide",
    summary: "Answer a review request on standard input, in place of `opencode run`.",
    about:
      "Reads one request of the Agent Feedback Protocol 1.2 and answers it. Unless settings bind the reviewer to a model, or " +
      "--reviewer-command to a program, the answer is a check by a dozen fixed rules that need no model, no network and no key: it is not a " +
      "review, and says so. With --url the session is on that " +
      "server; ASSAY_URL alone does not move it. A first word `run` is skipped, and other words are put before the input, so " +
      "that the command can replace opencode in scripts. Every request is answered, an invalid one with an error, and the exit code " +
      "is 0.",
    args: [{ name: "WORDS", summary: "Text that is put before standard input.", optional: true, many: true }],
    flags: REVIEW_PROVIDE_FLAGS,
    settings: [
      ...CLIENT,
      "reviewer",
      "reviewModel",
      "reviewModelUrl",
      "reviewModelKeyEnv",
      "reviewModelTimeoutMs",
      "reviewModelAttempts",
    ],
    examples: [
      "assay review provide --agent qualitative-reviewer --format json < request.json",
      "assay review provide --format json --session ses_0198f2a6c3b7Qm4ZtX81LkPd9a < next-request.json",
      "assay review provide --reviewer-command ./review.py < request.json",
    ],
    exits: {
      0: "there is an answer, also one with an error",
      1: "no input, an unknown or busy session, an unusable state directory, or a call that is not understood",
    },
    misuseExit: 1,
    load: async () => (await import("./provide.ts")).reviewProvide,
  }),
  command({
    name: "review setup",
    summary: "Install the reviewer as an agent of the `opencode` command.",
    about:
      "Writes the agent file of `qualitative-reviewer` into .opencode/agent of a project. Without it the command answers as " +
      "another agent, and the outcome is wrong_agent. A file with other content is replaced only after you confirm. " +
      "Commands other than opencode, such as `assay review provide`, need no setup.",
    args: [{ name: "TOOL", summary: "The tool to set up: opencode." }],
    flags: REVIEW_SETUP_FLAGS,
    settings: [],
    examples: ["assay review setup opencode", "assay review setup opencode --dir ../service --force"],
    exits: {
      0: "the file is there",
      2: "another file is there and was not replaced, or cannot be confirmed without a terminal; or the file cannot be written",
    },
    load: async () => (await import("./setup.ts")).reviewSetup,
  }),
  command({
    name: "review instructions",
    summary: "Print instructions for an agent's prompt, so that it requests reviews.",
    about: "A short text with the exact commands, for AGENTS.md or another file with the agent's instructions.",
    flags: REVIEW_INSTRUCTIONS_FLAGS,
    settings: [],
    examples: [
      "assay review instructions > review-instructions.md",
      "assay review instructions --command assay --arg review --arg provide",
    ],
    load: async () => (await import("./setup.ts")).reviewInstructions,
  }),
];
