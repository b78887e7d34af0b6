import type { COMPARISON_MODES } from "../../formats/tapes/compare/compare-tapes.ts";
import type { GRADED_BY } from "../../formats/tapes/grade.ts";
import { type AnyCommand, type Arg, choice, command, integer, text, toggle } from "../program/command.ts";
import { ANNOTATIONS, NOT_LOADED, NOT_LOADED_OR_WRITTEN, TAPE } from "./file-commands.ts";

const SIDECARS: Arg = { name: "SIDECAR|DIR", summary: "Annotations about a tape, or a directory with many." };
const SKIP_BROKEN = toggle("Skip files that do not load; they are named, and the exit code is 2.");
const SKIPPED = "a flag is not valid, the directory has no such files, or files were skipped";
const EXITS = { 1: NOT_LOADED, 2: SKIPPED };

export const TAPE_SUGGEST_FLAGS = {
  minOccurrences: integer("N", 1, "How often friction must occur; 2 unless given, and at least 2."),
  owner: text("NAME", "The owner of the packs; the author of the first row unless given."),
  skipBroken: SKIP_BROKEN,
};

export const TAPE_CANDIDATES_FLAGS = {
  minExamples: integer("N", 1, "In how many tapes a sequence must be; 2 unless given, and at least 2."),
  limit: integer("N", 1, "How many to list; 20 unless given."),
  skipBroken: SKIP_BROKEN,
};

// Copies, because help texts must not load the formats; the compiler compares the lists.
const BY: typeof GRADED_BY = ["persona", "tape", "author"];

export const TAPE_GRADE_FLAGS = {
  by: choice("WHAT", BY, `What to grade: ${BY.join(", ")}; persona unless given.`),
  skipBroken: SKIP_BROKEN,
};

export const TAPE_PRESENT_FLAGS = {
  annotations: ANNOTATIONS,
};

const MODES: typeof COMPARISON_MODES = ["byte_identical", "semantic", "outcome", "phase_aware"];

export const TAPE_DIFF_FLAGS = {
  mode: choice("MODE", MODES, "How strictly to compare: byte_identical (default), semantic, outcome or phase_aware."),
  annotations: text("SIDECAR", "Show the annotations of A below the divergences, and do not list muted events."),
};

export const TAPE_REPLAY_FLAGS = {
  annotations: text("SIDECAR", "The annotations of the recording; read before the program starts."),
  processTape: text("FILE", "Recorded answers of subprocesses; checked, and passed on as ASSAY_PROCESS_TAPE."),
  emitTape: text("FILE", "Write the new tape to this file, which is replaced; deleted unless given."),
  requireEvents: toggle("Report a run that records no event as a problem."),
};

const FORCE = toggle("Replace existing files.");

export const TAPE_BUNDLE_FLAGS = {
  annotations: text("SIDECAR", "The annotations; TAPE.annotations.jsonl, if it exists, unless given."),
  output: text("FILE", "The file to write; TAPE.bundle.tar unless given. Compressed when it ends in .gz or .tgz."),
  requireBodies: toggle("Write nothing when a body that the tape refers to is missing."),
  force: FORCE,
};

export const TAPE_UNBUNDLE_FLAGS = {
  output: text("DIR", "The folder to unpack into, created when it is missing; the working directory unless given."),
  requireBodies: toggle("Unpack nothing when a body that the tape refers to is missing."),
  maxBytes: integer("N", 0, "Refuse a bundle whose content is larger (default: 4 GiB)."),
  force: FORCE,
};

export const TAPE_COMPARE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "tape suggest",
    summary: "Propose context packs from friction that was noted repeatedly.",
    about:
      "Rows of kind friction with the same kind, tape and words are grouped; each group becomes a proposal with queries, documents, " +
      "tools and secrets by name, from the metadata of the rows. For a directory, rows of different tapes are grouped " +
      "too. With --json the proposals are printed as a list.",
    args: [SIDECARS],
    flags: TAPE_SUGGEST_FLAGS,
    settings: [],
    examples: [
      "assay tape suggest run.tape.annotations.jsonl",
      "assay tape suggest recordings --min-occurrences 3 --owner platform",
    ],
    exits: EXITS,
    load: async () => (await import("./suggest.ts")).tapeSuggest,
  }),
  command({
    name: "tape candidates",
    summary: "Rank the sequences of actions that tapes have in common.",
    about:
      "A sequence is 2 to 12 adjacent actions, in at least two of the tapes (*.tape) below a directory. Sequences that are marked with " +
      "crystallize_here come first, then those in the most tapes, then the longest. Values that differ between tapes are named: they " +
      "would be the parameters of a workflow.",
    args: [{ name: "DIR", summary: "A directory with tapes." }],
    flags: TAPE_CANDIDATES_FLAGS,
    settings: [],
    examples: [
      "assay tape candidates recordings",
      "assay tape candidates recordings --min-examples 5 --limit 3 --json",
    ],
    exits: EXITS,
    load: async () => (await import("./candidates.ts")).tapeCandidates,
  }),
  command({
    name: "tape grade",
    summary: "Grade the actors of tapes by the rows of kind correct and incorrect.",
    about:
      "Counts events, and shows the rate with its interval of 95 %. The persona is metadata.persona of a row, else the script of the " +
      "sidecar's tape, else the tape that the sidecar names. Rows that a later one replaces and muted events do not count; an " +
      "event that was judged both ways is listed and counts in no rate.",
    args: [SIDECARS],
    flags: TAPE_GRADE_FLAGS,
    settings: [],
    examples: ["assay tape grade run.tape.annotations.jsonl", "assay tape grade recordings --by author"],
    exits: EXITS,
    load: async () => (await import("./grade.ts")).tapeGrade,
  }),
  command({
    name: "tape present",
    summary: "Step through the markers and alternatives of a recorded run.",
    about:
      "In the order of their events, each with the event, the events of its span, the evidence, the suggested fix, and links. On a " +
      "terminal Enter shows the next step, b the one before, and q ends; elsewhere all steps are printed. Muted events are left out.",
    args: [TAPE],
    flags: TAPE_PRESENT_FLAGS,
    settings: [],
    examples: ["assay tape present run.tape", "assay tape present run.tape --annotations lesson.jsonl --json"],
    exits: { 1: NOT_LOADED, 2: "some steps are about events that the tape does not have; the others are shown" },
    load: async () => (await import("./present.ts")).tapePresent,
  }),
  command({
    name: "tape diff",
    summary: "Compare a recorded tape with the tape of a replay.",
    about:
      "Events are paired by their position. byte_identical compares everything, semantic leaves out phases, clocks, durations, " +
      "latencies and lengths, outcome looks only at files, the last exit code and the number of model calls, and phase_aware is exact " +
      "about the script and semantic about the clean-up after it. Muted events are counted and not listed.",
    args: [
      { name: "A", summary: "The recorded tape." },
      { name: "B", summary: "The tape of the replay." },
    ],
    flags: TAPE_DIFF_FLAGS,
    settings: [],
    examples: [
      "assay tape diff run.tape replay.tape",
      "assay tape diff run.tape replay.tape --mode semantic --annotations run.tape.annotations.jsonl",
    ],
    exits: {
      0: "nothing diverges",
      1: NOT_LOADED,
      2: "something diverges, muted or not",
    },
    load: async () => (await import("./diff.ts")).tapeDiff,
  }),
  command({
    name: "tape replay",
    summary: "Run a program that records a tape, and check the annotations against the new tape.",
    about:
      "PROGRAM writes a tape to the path in the environment variable ASSAY_TAPE. Its input and output are those of this " +
      "command, and signals are passed on. The annotations are shown on standard error. A tape that does not load is a " +
      "warning. With --json the output of the program goes to standard error too, and the result to standard output.",
    args: [{ name: "PROGRAM", summary: "The program and its arguments, after --.", many: true }],
    flags: TAPE_REPLAY_FLAGS,
    settings: [],
    examples: [
      "assay tape replay --annotations run.tape.annotations.jsonl -- node examples/tapes/recorder.js",
      "assay tape replay --annotations s.jsonl --process-tape processes.json --emit-tape new.tape -- ./record --fast",
    ],
    exits: {
      1: `${NOT_LOADED_OR_WRITTEN}, or the program cannot be started`,
      2: "the annotations have problems, unless the program ended with a higher code",
      128: "and the number of the signal that ended the program; otherwise the exit code is that of the program",
    },
    load: async () => (await import("./replay.ts")).tapeReplay,
  }),
  command({
    name: "tape bundle",
    summary: "Pack a tape, its stored bodies and its annotations into one file.",
    about:
      "Writes a tar archive for any platform, with the same bytes for the same content. Bodies that no record refers to " +
      "are left out, missing bodies are named. docs/formats/tape-bundle.md describes the file.",
    args: [TAPE],
    flags: TAPE_BUNDLE_FLAGS,
    settings: [],
    examples: [
      "assay tape bundle run.tape",
      "assay tape bundle run.tape --annotations review.jsonl --output run.tar.gz",
    ],
    exits: {
      1: `${NOT_LOADED_OR_WRITTEN}, or a stored body is damaged`,
      2: "the file exists, or bodies are missing and --require-bodies is given",
    },
    load: async () => (await import("./bundle.ts")).tapeBundle,
  }),
  command({
    name: "tape unbundle",
    summary: "Unpack a bundle that `tape bundle` wrote.",
    about: "Names, sizes, the hash of every file and the digest of the tape are checked before a file is written.",
    args: [{ name: "FILE", summary: "A bundle, also a compressed one." }],
    flags: TAPE_UNBUNDLE_FLAGS,
    settings: [],
    examples: ["assay tape unbundle run.tape.bundle.tar", "assay tape unbundle run.tar.gz --output recordings/today"],
    exits: {
      1: "the file is not a bundle, damaged, too large or of a newer version, or a file cannot be written",
      2: "a file exists, or bodies are missing and --require-bodies is given",
    },
    load: async () => (await import("./bundle.ts")).tapeUnbundle,
  }),
];
