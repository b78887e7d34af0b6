import { type AnyCommand, CLIENT, command, type Flags, RUN } from "../program/command.ts";

export const ANNOTATE_FLAGS = {
  rating: { type: "text", value: "N", choices: ["1", "2", "3", "4", "5"], summary: "How good it is, 1 to 5." },
  up: { type: "switch", summary: "Thumbs up: the same as --rating 5." },
  down: { type: "switch", summary: "Thumbs down: the same as --rating 1." },
  correction: { type: "text", value: "TEXT|@FILE|-", summary: "What it should have been; - is standard input." },
  label: { type: "text", value: "LABEL", summary: "A word for what it is, such as pass, fail or wrong-tone." },
  flag: { type: "switch", summary: "Somebody should look at this. Open until it is closed with --close." },
  note: { type: "text", value: "TEXT", summary: "A remark; with --close, what came of it." },
  event: { type: "text", value: "ID", summary: "Judge this event of the run." },
  node: { type: "text", value: "ID", summary: "Judge this node of the run." },
  supersedes: { type: "text", value: "ANNOTATION", summary: "Replace this earlier judgment of yours on the run." },
  confidence: { type: "text", value: "C", summary: "How sure an agent is, 0 to 1; only with an agent's key." },
  retract: { type: "text", value: "ANNOTATION", summary: "Withdraw a judgment; needs --reason." },
  reason: { type: "text", value: "TEXT", summary: "Why it is withdrawn." },
  close: { type: "text", value: "ANNOTATION", summary: "Close a flag; needs --note." },
} as const satisfies Flags;

export const annotate = command({
  name: "annotate",
  summary: "Judge a run, one of its events or one of its nodes; or withdraw a judgment, or close a flag.",
  about:
    "Say one thing at a time: --rating, --up, --down, --correction, --label or --flag. Runs can be judged while they go on " +
    "and after they have ended. Nothing is ever overwritten: what is replaced or withdrawn stays on record and counts no more.",
  args: [{ ...RUN, optional: true }],
  flags: ANNOTATE_FLAGS,
  settings: CLIENT,
  examples: [
    'assay annotate run-01k4… --rating 4 --note "right, but long"',
    "assay annotate run-01k4… --node draft --correction @better.txt",
    "assay annotate run-01k4… --label wrong-tone --event evt-01k4…",
    "assay annotate run-01k4… --up --supersedes ann-01k4…",
    'assay annotate --retract ann-01k4… --reason "wrong run"',
    'assay annotate --close ann-01k4… --note "fixed in 2.1"',
  ],
  exits: {
    2: "not understood, or refused by the state of things: it is replaced or closed already, or there is no such run",
    3: "not allowed: it is somebody else's, or the key may not judge",
  },
  load: async () => (await import("./annotate.ts")).annotate,
});

/** Which judgments: what lists and exports have in common. */
export const ANNOTATION_FILTERS = {
  workflow: { type: "text", value: "ID", summary: "Only on runs of this workflow." },
  agent: { type: "text", value: "ID", summary: "Only on runs of this agent." },
  node: { type: "text", value: "ID", summary: "Only about this node." },
  signal: {
    type: "text",
    value: "KIND",
    choices: ["rating", "correction", "label", "flag"],
    summary: "Only ratings, corrections, labels or flags.",
  },
  label: { type: "text", value: "LABEL", summary: "Only this label." },
  actor: { type: "text", value: "ID", summary: "Only by this principal." },
  actorKind: {
    type: "text",
    value: "KIND",
    choices: ["person", "agent", "code"],
    summary: "Only by people, by agents or by code.",
  },
  state: {
    type: "text",
    value: "STATE",
    choices: ["live", "superseded", "retracted"],
    summary: "Only those that are live, superseded or retracted.",
  },
  flagged: { type: "switch", summary: "Only open flags." },
  from: { type: "text", value: "TIME", summary: "Recorded since: an instant, a day, or how long ago, such as 7d." },
  to: { type: "text", value: "TIME", summary: "Recorded before that." },
} as const satisfies Flags;

export const ANNOTATIONS_FLAGS = {
  ...ANNOTATION_FILTERS,
  search: { type: "text", value: "WORDS", summary: "Notes and corrections with words that begin like these." },
  limit: { type: "integer", value: "N", min: 1, summary: "How many; 50 unless given." },
  all: { type: "switch", summary: "All of them." },
  watch: { type: "switch", summary: "Show what is recorded, replaced, withdrawn and closed from now on." },
} as const satisfies Flags;

export const annotations = command({
  name: "annotations",
  summary: "List judgments, newest first: on one run, or across runs.",
  about:
    "What is no longer live says so. With --watch, a line for each change until interrupted; a lost connection is taken up " +
    "where it broke off. With --json as well, one JSON object { event, data } per line.",
  args: [{ ...RUN, optional: true }],
  flags: ANNOTATIONS_FLAGS,
  settings: CLIENT,
  examples: [
    "assay annotations run-01k4…",
    "assay annotations --workflow report --signal correction --from 7d",
    'assay annotations --search "invoice total" --all --json',
    "assay annotations --flagged --watch",
  ],
  load: async () => (await import("./annotations.ts")).annotations,
});

export const ANNOTATION_COMMANDS: readonly AnyCommand[] = [annotate, annotations];
