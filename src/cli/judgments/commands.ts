import { type AnyCommand, choice, command, integer, RUN, text, toggle } from "../program/command.ts";

export const ANNOTATE_FLAGS = {
  rating: choice("N", ["1", "2", "3", "4", "5"], "How good it is, 1 to 5."),
  up: toggle("Thumbs up: the same as --rating 5."),
  down: toggle("Thumbs down: the same as --rating 1."),
  correction: text("TEXT|@FILE|-", "The correct output; - is standard input."),
  label: text("LABEL", "A word such as pass, fail or wrong-tone."),
  flag: toggle("Ask for a second look. Open until it is closed with --close."),
  note: text("TEXT", "A remark; with --close, the outcome."),
  event: text("ID", "Judge this event of the run."),
  node: text("ID", "Judge this node of the run."),
  supersedes: text("ANNOTATION", "Replace this earlier judgment of yours on the run."),
  confidence: text("C", "How sure an agent is, 0 to 1; only with an agent's key."),
  retract: text("ANNOTATION", "Withdraw a judgment; needs --reason."),
  reason: text("TEXT", "Why it is withdrawn."),
  close: text("ANNOTATION", "Close a flag; needs --note."),
};

/** The filters of lists and exports. */
export const ANNOTATION_FILTERS = {
  workflow: text("ID", "Only on runs of this workflow."),
  agent: text("ID", "Only on runs of this agent."),
  node: text("ID", "Only about this node."),
  signal: choice("KIND", ["rating", "correction", "label", "flag"], "Only ratings, corrections, labels or flags."),
  label: text("LABEL", "Only this label."),
  actor: text("ID", "Only by this principal."),
  actorKind: choice("KIND", ["person", "agent", "code"], "Only by people, by agents or by code."),
  state: choice("STATE", ["live", "superseded", "retracted"], "Only those that are live, superseded or retracted."),
  flagged: toggle("Only open flags."),
  from: text("TIME", "Recorded since: an instant, a day, or how long ago, such as 7d."),
  to: text("TIME", "Recorded before that."),
};

export const ANNOTATIONS_FLAGS = {
  ...ANNOTATION_FILTERS,
  search: text("WORDS", "Notes and corrections with words that begin like these."),
  limit: integer("N", 1, "How many; 50 unless given."),
  all: toggle("All of them."),
  watch: toggle("Show judgments as they are recorded, replaced, withdrawn and closed from now on."),
};

export const FEEDBACK_SUMMARY_FLAGS = {
  workflow: text("ID", "Only runs of this workflow."),
  agent: text("ID", "Only runs of this agent."),
  node: text("ID", "Only judgments about this node; all runs are counted."),
  from: text("TIME", "Runs that ended since: an instant, a day, or how long ago, such as 7d."),
  to: text("TIME", "Runs that ended before that."),
  groupBy: choice("WHAT", ["workflow", "agent", "node", "day"], "A line for each workflow, agent, node or day."),
};

export const EXPORT_FLAGS = {
  output: text("FILE", "Write to this file; compressed when the name ends in .gz."),
  force: toggle("Replace the file when it exists."),
  run: text("ID", "Only on this run."),
  ...ANNOTATION_FILTERS,
};

export const IMPORT_FLAGS = {
  dryRun: toggle("Only show what an import would change."),
};

export const JUDGMENT_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "annotate",
    summary: "Judge a run, one of its events or one of its nodes; or withdraw a judgment, or close a flag.",
    args: [{ ...RUN, optional: true }],
    about:
      "Give one signal at a time: --rating, --up, --down, --correction, --label or --flag. Runs can be judged while they are active " +
      "and after they have ended. Nothing is overwritten: a judgment that is replaced or withdrawn stays on record and no longer counts.",
    flags: ANNOTATE_FLAGS,
    examples: [
      'assay annotate run-01k4… --rating 4 --note "right, but long"',
      "assay annotate run-01k4… --node draft --correction @better.txt",
      "assay annotate run-01k4… --label wrong-tone --event evt-01k4…",
      "assay annotate run-01k4… --up --supersedes ann-01k4…",
      'assay annotate --retract ann-01k4… --reason "wrong run"',
      'assay annotate --close ann-01k4… --note "fixed in 2.1"',
    ],
    exits: {
      2: "the flags or the state do not allow it: the judgment is replaced, the flag closed, or the run does not exist",
      3: "not allowed: the judgment is another author's, or the key may not judge",
    },
    load: async () => (await import("./annotate.ts")).annotate,
  }),
  command({
    name: "annotations",
    summary: "List judgments, newest first: on one run, or across runs.",
    args: [{ ...RUN, optional: true }],
    about:
      "Judgments that are not live show their state. With --watch, a line for each change until interrupted; a lost connection " +
      "resumes where it broke off. With --json as well, one JSON object { event, data } per line.",
    flags: ANNOTATIONS_FLAGS,
    examples: [
      "assay annotations run-01k4…",
      "assay annotations --workflow report --signal correction --from 7d",
      'assay annotations --search "invoice total" --all --json',
      "assay annotations --flagged --watch",
    ],
    load: async () => (await import("./annotations.ts")).annotations,
  }),
  command({
    name: "feedback summary",
    summary: "Show how runs were judged: ratings, corrections, flags, labels, and rates with their intervals.",
    about:
      "Counts runs that have ended and judgments that are live. People come first; agents and code are shown apart and are " +
      "in no figure of people. An interval is Wilson's, of 95 %.",
    flags: FEEDBACK_SUMMARY_FLAGS,
    examples: [
      "assay feedback summary --from 7d",
      "assay feedback summary --workflow report --group-by day",
      "assay feedback summary --group-by agent --json",
    ],
    load: async () => (await import("./feedback.ts")).feedbackSummary,
  }),
  command({
    name: "export",
    summary: "Write judgments with their whole history, as JSON lines.",
    about:
      "Oldest first, in every state, to standard output or a file. docs/formats/judgments.md describes the lines. With " +
      "--output the file appears when it is complete; with --json as well, the number of judgments in it is printed.",
    flags: EXPORT_FLAGS,
    examples: [
      "assay export --output judgments.jsonl.gz",
      "assay export --workflow report --actor-kind person --from 30d > report.jsonl",
    ],
    exits: {
      2: "a filter is not valid, or the file cannot be written",
      4: "the server could not be reached, or the export broke off",
    },
    load: async () => (await import("./export.ts")).exportJudgments,
  }),
  command({
    name: "import",
    summary: "Import judgments that `export` wrote, on this host or another.",
    about:
      "Ids, authors, times and history are kept. Judgments that are here already stay as they are or are brought up to date, so a file can " +
      "be imported again. A file that is truncated or of another format is refused before anything is sent; a line that " +
      "is refused is named, and the others are imported.",
    args: [{ name: "FILE", summary: "A file made by `export`, also compressed; - for standard input." }],
    flags: IMPORT_FLAGS,
    examples: ["assay import judgments.jsonl.gz --dry-run", "assay import judgments.jsonl.gz"],
    exits: {
      0: "every line is imported, or was before",
      2: "the file is of another format or truncated, or lines of it were refused",
      3: "the key may not import judgments",
    },
    load: async () => (await import("./import.ts")).importJudgments,
  }),
];
