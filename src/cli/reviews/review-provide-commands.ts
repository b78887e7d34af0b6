import { type AnyCommand, CLIENT, command, type Flags } from "../program/command.ts";

export const ANSWER_FORMATS = ["json", "default"] as const;

export const REVIEW_PROVIDE_FLAGS = {
  agent: {
    type: "text",
    value: "NAME",
    summary: "Who is to review; qualitative-reviewer unless given, and for every name that is not known.",
  },
  format: {
    type: "text",
    value: "FORMAT",
    choices: ANSWER_FORMATS,
    summary: "default prints the answer alone, json as a stream of JSON lines that also names the session.",
  },
  session: { type: "text", short: "s", value: "ID", summary: "Go on with this session; without it a new one begins." },
  continue: { type: "switch", short: "c", summary: "Go on with the session that was used last." },
  fork: { type: "switch", summary: "Go on in a copy of the session, under a new id." },
  title: { type: "text", value: "TEXT", summary: "Taken and ignored." },
  model: { type: "text", short: "m", value: "NAME", summary: "Taken and ignored." },
  dir: { type: "text", value: "DIR", summary: "Taken and ignored: a session works from every directory." },
  state: {
    type: "text",
    value: "DIR",
    summary: "Where sessions are kept; .assay/review-sessions in the home directory unless given.",
  },
  reviewerCommand: {
    type: "text",
    value: "PROGRAM",
    summary: "A program that reviews: JSON on its standard input, JSON on its standard output.",
  },
  arg: {
    type: "list",
    value: "ARG",
    summary: "An argument of that program; may be repeated, and written --arg=--flag.",
  },
  reviewTimeoutMs: {
    type: "integer",
    value: "MS",
    min: 1,
    summary: "How long a review may take, reviewerTimeoutMs unless given; then the answer is INTERNAL_ERROR.",
  },
  busyMs: {
    type: "integer",
    value: "MS",
    min: 0,
    summary: "How long to wait for a session that another call has, 30000 unless given.",
  },
} as const satisfies Flags;

export const reviewProvide = command({
  name: "review provide",
  summary: "Review what comes on standard input, in place of `opencode run`.",
  about:
    "Reads one request of the Agent Feedback Protocol 1.2 and answers it. Unless settings bind the reviewer to a model, or " +
    "--reviewer-command to a program, the answer is a check by a dozen fixed rules that need no model, no network and no key: it is not a " +
    "review, and says so. With --url the session lives on that " +
    "server; ASSAY_URL alone does not change where it lives. A first word `run` is skipped, and other words are put before the input, so " +
    "that the command can take the place of opencode unchanged. Every request is answered, also a wrong one: the answer then says what " +
    "is wrong, and the exit code is 0.",
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
    0: "there is an answer, whatever it says",
    1: "no input, an unknown or busy session, an unusable state directory, or a call that is not understood",
  },
  misuseExit: 1,
  load: async () => (await import("./review-provide.ts")).reviewProvide,
});

export const REVIEW_PROVIDE_COMMANDS: readonly AnyCommand[] = [reviewProvide];
