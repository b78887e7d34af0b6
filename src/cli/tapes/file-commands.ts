import type {
  AUTHOR_KINDS,
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  ROW_KINDS,
} from "../../formats/tapes/sidecar/sidecar.ts";
import { type AnyCommand, type Arg, choice, command, list, text, toggle } from "../program/command.ts";

export const TAPE: Arg = { name: "TAPE", summary: "A recorded run, such as run.tape." };

export const ANNOTATIONS = text("SIDECAR", "Its annotations; TAPE.annotations.jsonl unless given.");

/** The meaning of exit code 1 for commands that only read. */
export const NOT_LOADED = "a file does not load";
/** The same for commands that can write a file. */
export const NOT_LOADED_OR_WRITTEN = "a file does not load, or cannot be written";

export const FINDING_FORMATS = ["report", "github", "sarif", "text"] as const;
export type FindingFormat = (typeof FINDING_FORMATS)[number];

export const VALIDATE_FLAGS = {
  tape: text("TAPE", "The tape of the annotations."),
  report: text("FILE", "Write the report to this file instead of standard output."),
  format: choice(
    "FORMAT",
    FINDING_FORMATS,
    "How problems are printed: report (JSON, the default), github, sarif or text.",
  ),
};

const SIDECAR: Arg = { name: "SIDECAR", summary: "Annotations about a tape, such as run.tape.annotations.jsonl." };

export const NORMALIZE_FLAGS = {
  output: text("FILE", "The file to write instead of standard output; may be FILE itself."),
};

export const TAPE_EXPORT_FLAGS = {
  kind: list("KIND", "Only annotations of this kind; may be repeated."),
  format: text("FORMAT", "jsonl: the annotations (default). friction: friction events."),
  output: text("FILE", "The file to write instead of standard output."),
  latest: toggle("Leave out annotations that a later one replaces (metadata.supersedes)."),
  redact: toggle("Replace what looks like a secret in any text by [REDACTED]."),
};

export const SHOW_FLAGS = {
  annotations: ANNOTATIONS,
  summary: toggle("Show a summary instead; muted events and replaced annotations do not count."),
  history: toggle("Show how hypotheses and other annotations changed instead."),
};

export const ANCHORS_FLAGS = {
  skipBroken: toggle("In a directory, skip files that do not load; they are named, and the exit code is 2."),
};

// Copies, because help texts must not load the format; the compiler compares the lists.
const KINDS: typeof ROW_KINDS = [
  "correct",
  "incorrect",
  "alternative",
  "note",
  "marker",
  "mute",
  "hypothesis",
  "friction",
  "crystallize_here",
];
const AUTHORS: typeof AUTHOR_KINDS = ["human", "agent", "system"];
const STATUSES: typeof HYPOTHESIS_STATUSES = ["active", "verifying", "confirmed", "disproven", "stale"];
const FRICTION: typeof FRICTION_KINDS = [
  "repeated_query",
  "repeated_clarification",
  "approval_stall",
  "missing_context",
  "manual_handoff",
  "tool_gap",
  "failed_assumption",
  "expensive_model_used_for_deterministic_step",
  "human_hypothesis",
];

export const TAPE_ANNOTATE_FLAGS = {
  event: text("SEQ", "The annotated event, by its number in the tape; `last` is the last one."),
  kind: text("KIND", `The kind of the annotation: ${KINDS.join(", ")}.`),
  evidence: text("TEXT|@FILE|-", "The reason, as a text; - is standard input."),
  fix: text("JSON|@FILE", "The value that would have been correct."),
  authorKind: choice("KIND", AUTHORS, "The kind of the author: human, agent or system; human unless given."),
  surface: text("WORD", "The program that the annotation was written in; cli unless given."),
  span: text("END|START:END", "The annotated range, up to and including the event END."),
  status: choice("STATUS", STATUSES, `The status of a hypothesis: ${STATUSES.join(", ")}.`),
  friction: text("KIND", `The kind of friction: ${FRICTION.join(", ")}.`),
  link: list("URL|LABEL=URL", "A related address; may be repeated."),
  meta: list("KEY=JSON", "A member of the metadata; may be repeated."),
  supersedes: text("ID", "Replace this earlier annotation; members that are not given are taken from it."),
  id: text("ID", "The id of the annotation; one is made unless given."),
  annotations: text("SIDECAR", "The file to write to; TAPE.annotations.jsonl unless given."),
  force: toggle("Write the annotation also when `tape validate` would report it."),
  dryRun: toggle("Print the line that would be written, and write nothing."),
};

export const TAPE_FILE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "tape validate",
    summary: "Check the annotations of a sidecar against their tape.",
    about:
      "Prints a report as JSON, also without --json: the number of annotations by kind, and every problem in the order of " +
      "the file. For people there is --format text; for continuous integration, github (workflow commands) and sarif (SARIF " +
      "2.1.0), both also for files that do not load. With --report the report goes to a file, and the output of --format is " +
      "still printed. Files of any length are read line by line.",
    args: [{ name: "SIDECAR", summary: "The annotations, as in run.tape.annotations.jsonl." }],
    flags: VALIDATE_FLAGS,
    settings: [],
    examples: [
      "assay tape validate --tape run.tape run.tape.annotations.jsonl",
      "assay tape validate --tape run.tape --format sarif run.tape.annotations.jsonl > tape.sarif",
    ],
    exits: {
      0: "there is no problem",
      1: "the tape or the sidecar does not load, or the report cannot be written",
      2: "there is at least one problem",
    },
    load: async () => (await import("./validate.ts")).validateTape,
  }),
  command({
    name: "tape show",
    summary: "Show the annotations of a recorded run, event by event.",
    about:
      "Events without annotations are left out. The annotations are validated too; `assay tape validate` lists their problems. " +
      "With --json: events, summary and history.",
    args: [TAPE],
    flags: SHOW_FLAGS,
    settings: [],
    examples: [
      "assay tape show run.tape",
      "assay tape show run.tape --annotations review.jsonl --summary",
      "assay tape show run.tape --history",
    ],
    exits: { 1: NOT_LOADED, 2: "the annotations have problems; they are shown nevertheless" },
    load: async () => (await import("./show.ts")).show,
  }),
  command({
    name: "tape digest",
    summary: "Print the digest that ties a sidecar to its tape.",
    about: "BLAKE3 over the content of the events: white space, the order of members and the header do not change it.",
    args: [TAPE],
    settings: [],
    examples: ["assay tape digest run.tape"],
    exits: { 1: NOT_LOADED },
    load: async () => (await import("./normalize.ts")).printDigest,
  }),
  command({
    name: "tape normalize",
    summary: "Write a tape or a sidecar in its normal form.",
    about:
      "Members are written in their order; comments, blank lines and unknown members are removed, and an unknown kind becomes `unknown`. A " +
      "normal form does not change when it is normalized again. The format of the file is recognised by its content.",
    args: [{ name: "FILE", summary: "A tape or a sidecar." }],
    flags: NORMALIZE_FLAGS,
    settings: [],
    examples: [
      "assay tape normalize run.tape.annotations.jsonl > clean.jsonl",
      "assay tape normalize run.tape --output run.tape",
    ],
    exits: { 1: NOT_LOADED_OR_WRITTEN },
    load: async () => (await import("./normalize.ts")).normalize,
  }),
  command({
    name: "tape export",
    summary: "Write the annotations of a sidecar as JSON lines, for other programs.",
    about:
      "In the order of the file, without a header. The annotations are read and not validated, and redacted only with --redact. " +
      "With --format friction, annotations of other kinds, or of no known kind of friction, are left out.",
    args: [SIDECAR],
    flags: TAPE_EXPORT_FLAGS,
    settings: [],
    examples: [
      "assay tape export run.tape.annotations.jsonl --kind correct --kind incorrect",
      "assay tape export run.tape.annotations.jsonl --kind hypothesis --latest",
      "assay tape export run.tape.annotations.jsonl --format friction --redact --output friction.jsonl",
    ],
    exits: { 1: `${NOT_LOADED_OR_WRITTEN}, or there is no such kind or format` },
    load: async () => (await import("./export.ts")).exportRows,
  }),
  command({
    name: "tape anchors",
    summary: "List the ranges of events that are marked to become a fixed workflow.",
    about:
      "The annotations of kind crystallize_here, in the order of the file; for a directory, those of every *.annotations.jsonl below it.",
    args: [{ name: "SIDECAR", summary: "Annotations about a tape, or a directory with many." }],
    flags: ANCHORS_FLAGS,
    settings: [],
    examples: ["assay tape anchors run.tape.annotations.jsonl", "assay tape anchors recordings --json"],
    exits: { 1: NOT_LOADED, 2: "files were left out (--skip-broken), or the directory has none" },
    load: async () => (await import("./anchors.ts")).anchors,
  }),
  command({
    name: "tape annotate",
    summary: "Judge an event of a recorded run: add one annotation to the sidecar of the tape.",
    about:
      "The sidecar is created when it is missing, and its content does not change. An annotation that `tape validate` would report is " +
      "refused. To change an annotation, add one that replaces it with --supersedes. Prints the id of the annotation.",
    args: [{ name: "TAPE", summary: "The tape that contains the event." }],
    flags: TAPE_ANNOTATE_FLAGS,
    settings: ["author"],
    examples: [
      'assay tape annotate run.tape --event 3 --kind incorrect --evidence "deleted the wrong file"',
      'assay tape annotate run.tape --event 3 --kind alternative --fix \'{"path":"build/tmp"}\'',
      'assay tape annotate run.tape --event last --kind hypothesis --status active --evidence "the cache is cold"',
      'assay tape annotate run.tape --supersedes ann_9_1 --status confirmed --evidence "warm cache: 3 s"',
      "assay tape annotate run.tape --event 2 --kind friction --friction missing_context --meta doc_url=https://…",
      "assay tape annotate run.tape --event 4 --kind crystallize_here --span 9",
    ],
    exits: {
      0: "the annotation is in the file",
      1: "the tape or the file does not load, or the file cannot be written",
      2: "a flag is not valid, or the annotation would not be",
    },
    load: async () => (await import("./annotate.ts")).tapeAnnotate,
  }),
];
