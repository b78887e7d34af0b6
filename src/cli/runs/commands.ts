import { type AnyCommand, CLIENT, command, type Flags, RUN, RUN_EXITS } from "../program/command.ts";
import { runBundle } from "./bundle-commands.ts";
import { runDelete } from "./deletion-commands.ts";
import { runDiff, runFork } from "./fork-commands.ts";

export const RUN_START_FLAGS = {
  input: {
    type: "list",
    value: "NAME=VALUE",
    summary: "An input; the value is JSON where it parses as JSON, else text. May be repeated.",
  },
  inputs: { type: "text", value: "JSON|@FILE", summary: "All inputs as one JSON object; --input adds to it." },
  configurable: { type: "text", value: "JSON|@FILE", summary: "Run options as one JSON object." },
  tag: { type: "list", value: "TAG", summary: "A tag to find the run by. May be repeated." },
  metadata: {
    type: "list",
    value: "NAME=VALUE",
    summary: "A fact about the run, such as agentId=NAME; written as for --input. May be repeated.",
  },
  idempotencyKey: { type: "text", value: "KEY", summary: "Starting again with the same key gives the same run." },
  wait: { type: "switch", summary: "Wait for the end and show the run." },
  watch: { type: "switch", summary: "Follow the run as `run watch` does." },
} as const satisfies Flags;

export const runStart = command({
  name: "run start",
  summary: "Start a run of a workflow.",
  args: [{ name: "WORKFLOW", summary: "The id of a registered workflow; `workflow list` shows them." }],
  flags: RUN_START_FLAGS,
  settings: CLIENT,
  examples: [
    "assay run start greet --input name=Ada",
    'assay run start greet --inputs \'{"name":"Ada"}\' --watch',
    "assay run start report --inputs @inputs.json --tag nightly --wait --json",
    "assay run start report --metadata agentId=writer --metadata ticket=4711",
  ],
  exits: { 0: "the run was started; with --wait or --watch, it completed", 1: "with --wait or --watch: it did not" },
  load: async () => (await import("./run-start.ts")).runStart,
});

export const runShow = command({
  name: "run show",
  summary: "Show a run as it is now.",
  args: [RUN],
  flags: {},
  settings: CLIENT,
  examples: ["assay run show run-01k4…", "assay run show run-01k4… --json"],
  load: async () => (await import("./run-show.ts")).runShow,
});

export const RUN_LIST_FLAGS = {
  status: {
    type: "text",
    value: "STATUS",
    choices: [
      "pending",
      "running",
      "paused",
      "waiting-approval",
      "waiting-input",
      "waiting-external",
      "completed",
      "failed",
      "cancelling",
      "cancelled",
    ],
    summary: "Only runs with this status, such as running or failed.",
  },
  workflow: { type: "text", value: "ID", summary: "Only runs of this workflow." },
  agent: {
    type: "text",
    value: "ID",
    summary: "Only runs of this agent: named by the run's metadata, or called by the server.",
  },
  tag: { type: "text", value: "TAG", summary: "Only runs with this tag." },
  since: { type: "text", value: "WHEN", summary: "Only runs created then or later: 7d (ago), a day, or an instant." },
  until: { type: "text", value: "WHEN", summary: "Only runs created before that; written as for --since." },
  limit: { type: "integer", value: "N", min: 1, summary: "How many; 20 unless given." },
} as const satisfies Flags;

export const runList = command({
  name: "run list",
  summary: "List runs, newest first.",
  args: [],
  flags: RUN_LIST_FLAGS,
  settings: CLIENT,
  examples: [
    "assay run list",
    "assay run list --status failed --workflow report --limit 100",
    "assay run list --tag nightly --since 7d",
    "assay run list --agent local.acme.writer --since 2027-01-01 --until 2027-02-01",
  ],
  load: async () => (await import("./run-list.ts")).runList,
});

export const RUN_WATCH_FLAGS = {
  all: { type: "switch", summary: "Also the events for debugging: attempts, variables, timers." },
} as const satisfies Flags;

export const runWatch = command({
  name: "run watch",
  summary: "Follow a run from its first event to its end.",
  about: "A lost connection is taken up again where it broke off. With --json, one event per line.",
  args: [RUN],
  flags: RUN_WATCH_FLAGS,
  settings: CLIENT,
  examples: ["assay run watch run-01k4…", "assay run watch run-01k4… --all --json"],
  exits: RUN_EXITS,
  load: async () => (await import("./run-watch.ts")).runWatch,
});

const reason = { type: "text", value: "TEXT", summary: "Why; recorded with the run." } as const;

export const RUN_CANCEL_FLAGS = {
  descendants: {
    type: "switch",
    summary: "Cancel all runs below the run too, detached ones included; none is started below it any more.",
  },
  workflow: { type: "text", value: "ID", summary: "Cancel all runs of this workflow that have not ended." },
  reason,
} as const satisfies Flags;

export const runCancel = command({
  name: "run cancel",
  summary: "Cancel runs.",
  args: [{ ...RUN, many: true, optional: true }],
  flags: RUN_CANCEL_FLAGS,
  settings: CLIENT,
  examples: [
    'assay run cancel run-01k4… --reason "wrong input"',
    "assay run cancel run-01k4… run-01k5…",
    "assay run cancel run-01k4… --descendants",
    "assay run cancel --workflow nightly-report",
  ],
  exits: { 2: "at least one run could not be cancelled; the others were" },
  load: async () => (await import("./run-cancel.ts")).runCancel,
});

export const RUN_PAUSE_FLAGS = {
  drain: {
    type: "text",
    value: "POLICY",
    choices: ["drain-current-node", "immediate"],
    summary: "Whether the current node may finish (drain-current-node, the default) or is cut short (immediate).",
  },
  reason,
} as const satisfies Flags;

export const runPause = command({
  name: "run pause",
  summary: "Stop a run between nodes until it is resumed.",
  args: [RUN],
  flags: RUN_PAUSE_FLAGS,
  settings: CLIENT,
  examples: ["assay run pause run-01k4…", "assay run pause run-01k4… --drain immediate"],
  load: async () => (await import("./run-pause.ts")).runPause,
});

export const RUN_RESUME_FLAGS = { reason } as const satisfies Flags;

export const runResume = command({
  name: "run resume",
  summary: "Let a paused run go on.",
  args: [RUN],
  flags: RUN_RESUME_FLAGS,
  settings: CLIENT,
  examples: ["assay run resume run-01k4…"],
  load: async () => (await import("./run-pause.ts")).runResume,
});

export const RUN_COMMANDS: readonly AnyCommand[] = [
  runStart,
  runList,
  runShow,
  runWatch,
  runCancel,
  runPause,
  runResume,
  runDelete,
  runFork,
  runDiff,
  runBundle,
];
