import { CLIENT, command, type Flags, RUN } from "../program/command.ts";

export const RUN_FORK_FLAGS = {
  mode: {
    type: "text",
    value: "MODE",
    choices: ["replay", "branch"],
    summary: "replay (the default) repeats the run from its record; branch goes another way from --from-seq on.",
  },
  fromSeq: {
    type: "integer",
    value: "N",
    min: 0,
    summary: "Keep the events before this sequence; a replay's default is 0.",
  },
  overlay: {
    type: "text",
    value: "JSON|@FILE",
    summary: "Options of a branch as one JSON object: inputs, configurable, tags, metadata.",
  },
  motivatedBy: { type: "text", value: "ANNOTATION", summary: "The annotation of the run that you fork it because of." },
  idempotencyKey: { type: "text", value: "KEY", summary: "Forking again with the same key gives the same fork." },
  watch: { type: "switch", summary: "Follow the fork as `run watch` does." },
} as const satisfies Flags;

export const runFork = command({
  name: "run fork",
  summary: "Replay a run from its record, or branch off from it.",
  about:
    "A replay asks nobody and repeats no effect. A branch runs for real from the fork point on: effects after it happen again.",
  args: [RUN],
  flags: RUN_FORK_FLAGS,
  settings: CLIENT,
  examples: [
    "assay run fork run-01k4…",
    'assay run fork run-01k4… --mode branch --from-seq 12 --overlay \'{"inputs":{"name":"Grace"}}\' --watch',
    "assay run fork run-01k4… --motivated-by ann-01k4…",
  ],
  exits: { 0: "the fork was made; with --watch, it completed", 1: "with --watch: it did not" },
  load: async () => (await import("./run-fork.ts")).runFork,
});

export const runDiff = command({
  name: "run diff",
  summary: "Show how two runs differ, event by event and in what they came to.",
  about: "Ids, times and durations are left out of the comparison.",
  args: [
    { name: "A", summary: "The id of a run." },
    { name: "B", summary: "The id of another one." },
  ],
  flags: {},
  settings: CLIENT,
  examples: ["assay run diff run-01k4… run-01k5…", "assay run diff run-01k4… run-01k5… --json"],
  exits: { 0: "nothing differs", 1: "something differs" },
  load: async () => (await import("./run-diff.ts")).runDiff,
});
