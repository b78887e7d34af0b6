import { type AnyCommand, type Arg, command, type Flags } from "../../program/command.ts";
import { ANNOTATIONS, NOT_LOADED, NOT_LOADED_OR_WRITTEN, TAPE } from "./words.ts";

const SIDECAR: Arg = { name: "SIDECAR", summary: "Annotations about a tape, such as run.tape.annotations.jsonl." };

const digest = command({
  name: "tape digest",
  summary: "Print the digest that ties a sidecar to its tape.",
  about:
    "BLAKE3 over the events as they are understood: white space, the order of members and the header have no part in it.",
  args: [TAPE],
  flags: {},
  settings: [],
  examples: ["assay tape digest run.tape"],
  exits: { 1: NOT_LOADED },
  load: async () => (await import("../tape-digest.ts")).printDigest,
});

export const NORMALIZE_FLAGS = {
  output: { type: "text", value: "FILE", summary: "Write here instead; may be the file itself." },
} as const satisfies Flags;

const normalize = command({
  name: "tape normalize",
  summary: "Read a tape or a sidecar and write it the way a program would have.",
  about:
    "Every member, in its order; comments, blank lines and unknown members are gone, and an unknown kind has become `unknown`. Doing it " +
    "twice changes nothing more. What the file is, is told by what is in it.",
  args: [{ name: "FILE", summary: "A tape or a sidecar." }],
  flags: NORMALIZE_FLAGS,
  settings: [],
  examples: [
    "assay tape normalize run.tape.annotations.jsonl > clean.jsonl",
    "assay tape normalize run.tape --output run.tape",
  ],
  exits: { 1: NOT_LOADED_OR_WRITTEN },
  load: async () => (await import("../tape-normalize.ts")).normalize,
});

export const TAPE_EXPORT_FLAGS = {
  kind: { type: "list", value: "KIND", summary: "Only of this kind; may be given more than once." },
  format: { type: "text", value: "FORMAT", summary: "jsonl: the annotations (default). friction: friction events." },
  output: { type: "text", value: "FILE", summary: "Write here instead." },
  latest: { type: "switch", summary: "Leave out what a later annotation replaces (metadata.supersedes)." },
  redact: { type: "switch", summary: "Put [REDACTED] in place of what looks like a secret, in every text." },
} as const satisfies Flags;

const exportRows = command({
  name: "tape export",
  summary: "Write the annotations of a sidecar as JSON lines, for other programs.",
  about:
    "In the order of the file, without a header. Nothing is validated beyond reading, and nothing is redacted unless you ask for it. " +
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
  load: async () => (await import("../tape-export.ts")).exportRows,
});

export const SHOW_FLAGS = {
  annotations: ANNOTATIONS,
  summary: {
    type: "switch",
    summary: "What it comes to, instead: muted events and replaced annotations do not count.",
  },
  history: { type: "switch", summary: "How hypotheses and other annotations changed, instead." },
} as const satisfies Flags;

const show = command({
  name: "tape show",
  summary: "Show what was said about a recorded run, event by event.",
  about:
    "Events without annotations are left out. The annotations are validated as well; `assay tape validate` says what is wrong with them. " +
    "With --json everything: events, summary and history.",
  args: [TAPE],
  flags: SHOW_FLAGS,
  settings: [],
  examples: [
    "assay tape show run.tape",
    "assay tape show run.tape --annotations review.jsonl --summary",
    "assay tape show run.tape --history",
  ],
  exits: { 1: NOT_LOADED, 2: "the annotations have problems; they are shown all the same" },
  load: async () => (await import("../tape-show.ts")).show,
});

export const ANCHORS_FLAGS = {
  skipBroken: {
    type: "switch",
    summary: "In a directory, leave out files that cannot be loaded, name them, and end with 2.",
  },
} as const satisfies Flags;

const anchors = command({
  name: "tape anchors",
  summary: "List the stretches that somebody wants as a fixed workflow.",
  about:
    "The annotations of kind crystallize_here, in the order of the file; of every *.annotations.jsonl below it for a directory.",
  args: [{ name: "SIDECAR", summary: "Annotations about a tape, or a directory with many." }],
  flags: ANCHORS_FLAGS,
  settings: [],
  examples: ["assay tape anchors run.tape.annotations.jsonl", "assay tape anchors recordings --json"],
  exits: { 1: NOT_LOADED, 2: "files were left out (--skip-broken), or the directory has none" },
  load: async () => (await import("../tape-anchors.ts")).anchors,
});

export const TAPE_EXPORT_COMMANDS: readonly AnyCommand[] = [show, digest, normalize, exportRows, anchors];
