import { type AnyCommand, choice, command, integer, list, RUN, RUN_EXITS, text, toggle } from "../program/command.ts";

export const RUN_START_FLAGS = {
  input: list("NAME=VALUE", "An input; the value is JSON where it parses as JSON, else text. May be repeated."),
  inputs: text("JSON|@FILE", "All inputs as one JSON object; --input adds to it."),
  configurable: text("JSON|@FILE", "Run options as one JSON object."),
  tag: list("TAG", "A tag to find the run by. May be repeated."),
  metadata: list("NAME=VALUE", "A fact about the run, such as agentId=NAME; written as for --input. May be repeated."),
  idempotencyKey: text("KEY", "A repeated start with the same key returns the same run."),
  wait: toggle("Wait for the end and show the run."),
  watch: toggle("Follow the run as `run watch` does."),
};

export const RUN_LIST_FLAGS = {
  status: choice(
    "STATUS",
    [
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
    "Only runs with this status, such as running or failed.",
  ),
  workflow: text("ID", "Only runs of this workflow."),
  agent: text("ID", "Only runs of this agent: named by the run's metadata, or called by the server."),
  tag: text("TAG", "Only runs with this tag."),
  since: text("WHEN", "Only runs created then or later: 7d (ago), a day, or an instant."),
  until: text("WHEN", "Only runs created before that; written as for --since."),
  limit: integer("N", 1, "How many; 20 unless given."),
};

export const RUN_WATCH_FLAGS = {
  all: toggle("Also the events for debugging: attempts, variables, timers."),
};

const reason = text("TEXT", "Why; recorded with the run.");

export const RUN_CANCEL_FLAGS = {
  descendants: toggle("Cancel all runs below the run too, detached ones included; none is started below it any more."),
  workflow: text("ID", "Cancel all runs of this workflow that have not ended."),
  reason,
};

export const RUN_PAUSE_FLAGS = {
  drain: choice(
    "POLICY",
    ["drain-current-node", "immediate"],
    "Whether the current node may finish (drain-current-node, the default) or is cut short (immediate).",
  ),
  reason,
};

export const RUN_RESUME_FLAGS = { reason };

export const RUN_DELETE_FLAGS = {
  yes: toggle("Delete without asking; needed where there is no terminal."),
};

export const RUN_FORK_FLAGS = {
  mode: choice(
    "MODE",
    ["replay", "branch"],
    "replay (the default) repeats the run from its record; branch goes another way from --from-seq on.",
  ),
  fromSeq: integer("N", 0, "Keep the events before this sequence; a replay's default is 0."),
  overlay: text("JSON|@FILE", "Options of a branch as one JSON object: inputs, configurable, tags, metadata."),
  motivatedBy: text("ANNOTATION", "The annotation of the run that is the reason for the fork."),
  idempotencyKey: text("KEY", "A repeated fork with the same key returns the same run."),
  watch: toggle("Follow the fork as `run watch` does."),
};

export const RUN_BUNDLE_FLAGS = {
  output: text("FILE", "Write it there instead of to stdout; compressed if it ends in .gz."),
  force: toggle("Replace the file if it exists."),
};

export const EVENT_SEND_FLAGS = {
  eventId: text(
    "ID",
    "The event's own id, required: an event sent again with the same id and correlation counts once.",
  ),
  correlation: list(
    "NAME=VALUE",
    "The correlation of the wait, required unless --correlation-id is given; the value is JSON where it parses as JSON, else text. " +
      "May be repeated.",
  ),
  correlationId: text(
    "ID",
    "The correlationId of the wait, as `assay run show --json` prints it, in place of --correlation.",
  ),
  payload: text("JSON|@FILE", "The content of the event; an empty object unless given."),
  hold: integer("SECONDS", 1, "How long the event is kept when no run waits for it yet."),
};

export const RUN_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "run start",
    summary: "Start a run of a workflow.",
    args: [{ name: "WORKFLOW", summary: "The id of a registered workflow; `workflow list` shows them." }],
    flags: RUN_START_FLAGS,
    examples: [
      "assay run start greet --input name=Ada",
      'assay run start greet --inputs \'{"name":"Ada"}\' --watch',
      "assay run start report --inputs @inputs.json --tag nightly --wait --json",
      "assay run start report --metadata agentId=writer --metadata ticket=4711",
    ],
    exits: { 0: "the run was started; with --wait or --watch, it completed", 1: "with --wait or --watch: it did not" },
    load: async () => (await import("./start.ts")).runStart,
  }),
  command({
    name: "run list",
    summary: "List runs, newest first.",
    flags: RUN_LIST_FLAGS,
    examples: [
      "assay run list",
      "assay run list --status failed --workflow report --limit 100",
      "assay run list --tag nightly --since 7d",
      "assay run list --agent local.acme.writer --since 2027-01-01 --until 2027-02-01",
    ],
    load: async () => (await import("./show.ts")).runList,
  }),
  command({
    name: "run show",
    summary: "Show a run as it is now.",
    args: [RUN],
    examples: ["assay run show run-01k4…", "assay run show run-01k4… --json"],
    load: async () => (await import("./show.ts")).runShow,
  }),
  command({
    name: "run watch",
    summary: "Follow a run from its first event to its end.",
    about: "A lost connection is resumed after the last event. With --json, one event per line.",
    args: [RUN],
    flags: RUN_WATCH_FLAGS,
    examples: ["assay run watch run-01k4…", "assay run watch run-01k4… --all --json"],
    exits: RUN_EXITS,
    load: async () => (await import("./follow.ts")).runWatch,
  }),
  command({
    name: "run cancel",
    summary: "Cancel runs.",
    args: [{ ...RUN, many: true, optional: true }],
    flags: RUN_CANCEL_FLAGS,
    examples: [
      'assay run cancel run-01k4… --reason "wrong input"',
      "assay run cancel run-01k4… run-01k5…",
      "assay run cancel run-01k4… --descendants",
      "assay run cancel --workflow nightly-report",
    ],
    exits: { 2: "at least one run could not be cancelled; the others were" },
    load: async () => (await import("./stop.ts")).runCancel,
  }),
  command({
    name: "run pause",
    summary: "Stop a run between nodes until it is resumed.",
    args: [RUN],
    flags: RUN_PAUSE_FLAGS,
    examples: ["assay run pause run-01k4…", "assay run pause run-01k4… --drain immediate"],
    load: async () => (await import("./stop.ts")).runPause,
  }),
  command({
    name: "run resume",
    summary: "Resume a paused run.",
    args: [RUN],
    flags: RUN_RESUME_FLAGS,
    examples: ["assay run resume run-01k4…"],
    load: async () => (await import("./stop.ts")).runResume,
  }),
  command({
    name: "run delete",
    summary: "Delete runs that have ended, with everything about them, permanently.",
    about:
      "Deletes the runs that a run dispatched too, and their events, artifacts, gates, judgments and queue items. An entry in the " +
      "audit log stays; it has no content of the run.",
    args: [{ ...RUN, many: true }],
    flags: RUN_DELETE_FLAGS,
    examples: ["assay run delete run-01k4…", "assay run delete run-01k4… run-01k5… --yes"],
    exits: { 2: "at least one run could not be deleted, or the deletion was not confirmed; the others were" },
    load: async () => (await import("./stop.ts")).runDelete,
  }),
  command({
    name: "run fork",
    summary: "Replay a run from its record, or branch off from it.",
    about:
      "A replay asks for no decision and repeats no effect. A branch executes its nodes from the fork point on: effects after it happen again.",
    args: [RUN],
    flags: RUN_FORK_FLAGS,
    examples: [
      "assay run fork run-01k4…",
      'assay run fork run-01k4… --mode branch --from-seq 12 --overlay \'{"inputs":{"name":"Grace"}}\' --watch',
      "assay run fork run-01k4… --motivated-by ann-01k4…",
    ],
    exits: { 0: "the fork was made; with --watch, it completed", 1: "with --watch: it did not" },
    load: async () => (await import("./start.ts")).runFork,
  }),
  command({
    name: "run diff",
    summary: "Show how two runs differ, event by event and in their final state.",
    about: "Ids, times and durations are left out of the comparison.",
    args: [
      { name: "A", summary: "The id of a run." },
      { name: "B", summary: "The id of another one." },
    ],
    examples: ["assay run diff run-01k4… run-01k5…", "assay run diff run-01k4… run-01k5… --json"],
    exits: { 0: "nothing differs", 1: "something differs" },
    load: async () => (await import("./diff.ts")).runDiff,
  }),
  command({
    name: "run bundle",
    summary: "Write everything about a run as one JSON document, without secrets.",
    about:
      "State, events, spans, annotations and metrics, for a bug report. A log beyond the size limit of the host is cut at the end; " +
      "the document and this command report it.",
    args: [RUN],
    flags: RUN_BUNDLE_FLAGS,
    examples: ["assay run bundle run-01k4… > bundle.json", "assay run bundle run-01k4… --output bundle.json.gz"],
    load: async () => (await import("./show.ts")).runBundle,
  }),
];

export const EVENT_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "event send",
    summary: "Send an event to every run that waits for it.",
    about:
      "A run waits for events of one type with one correlation. Prints the runs that received it; with --hold, an event that " +
      "no run waits for yet goes to the first run that does.",
    args: [{ name: "TYPE", summary: "The type of the event, as the workflow names it." }],
    flags: EVENT_SEND_FLAGS,
    examples: [
      "assay event send payment.settled --event-id pay-7 --correlation orderId=7",
      "assay event send payment.settled --event-id pay-7 --correlation orderId=7 --payload @payment.json --hold 3600",
    ],
    exits: { 0: "the event was delivered, or is held", 2: "no run waits for it, or a waiting run cannot take it" },
    load: async () => (await import("./event-send.ts")).eventSend,
  }),
];
