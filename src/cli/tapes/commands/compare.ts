import type { COMPARISON_MODES } from "../../../formats/tapes/compare/compare-tapes.ts";
import { type AnyCommand, command, type Flags } from "../../program/command.ts";
import { NOT_LOADED, NOT_LOADED_OR_WRITTEN, TAPE } from "./words.ts";

// The words of the format once more: help texts must not load it. The compiler compares the lists.
const MODES: typeof COMPARISON_MODES = ["byte_identical", "semantic", "outcome", "phase_aware"];

export const TAPE_DIFF_FLAGS = {
  mode: {
    type: "text",
    value: "MODE",
    choices: MODES,
    summary: "How strictly to compare: byte_identical (default), semantic, outcome or phase_aware.",
  },
  annotations: {
    type: "text",
    value: "SIDECAR",
    summary: "Show what is written about the events of A beside what diverges, and do not list what is muted.",
  },
} as const satisfies Flags;

export const tapeDiff = command({
  name: "tape diff",
  summary: "Compare a recorded tape with the tape of a replay.",
  about:
    "Events are paired by their position. byte_identical compares everything, semantic leaves out phases, clocks, durations, " +
    "latencies and lengths, outcome looks only at files, the last exit code and the number of model calls, and phase_aware is exact " +
    "about the script and semantic about the clean-up after it. Muted events are not listed but counted.",
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
  load: async () => (await import("../tape-diff.ts")).tapeDiff,
});

export const TAPE_REPLAY_FLAGS = {
  annotations: {
    type: "text",
    value: "SIDECAR",
    summary: "What was written about the recording; read before anything runs.",
  },
  processTape: {
    type: "text",
    value: "FILE",
    summary: "Subprocesses to answer instead of running them; checked, and handed on as ASSAY_PROCESS_TAPE.",
  },
  emitTape: {
    type: "text",
    value: "FILE",
    summary: "Keep the new tape here, in place of what is there; else it is thrown away.",
  },
  requireEvents: { type: "switch", summary: "A run that leaves no tape with an event in it is a problem." },
} as const satisfies Flags;

export const tapeReplay = command({
  name: "tape replay",
  summary: "Run a program that records a tape, and hold the annotations against what it recorded.",
  about:
    "PROGRAM is anything that writes a tape to the path in the environment variable ASSAY_TAPE. Its input and output are those of this " +
    "command, and signals are passed on. What is shown of the annotations goes to standard error. A tape that cannot be loaded is a " +
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
  load: async () => (await import("../tape-replay.ts")).tapeReplay,
});

const FORCE = { type: "switch", summary: "Replace what is there." } as const;

export const TAPE_BUNDLE_FLAGS = {
  annotations: {
    type: "text",
    value: "SIDECAR",
    summary: "Its annotations; TAPE.annotations.jsonl unless given, if there are any.",
  },
  output: {
    type: "text",
    value: "FILE",
    summary: "Write here; TAPE.bundle.tar unless given. Compressed when it ends in .gz or .tgz.",
  },
  requireBodies: { type: "switch", summary: "Write nothing when a body that the tape refers to is missing." },
  force: FORCE,
} as const satisfies Flags;

export const tapeBundle = command({
  name: "tape bundle",
  summary: "Pack a tape, its stored bodies and its annotations into one file.",
  about:
    "A tar archive that any platform can unpack, and the same bytes whenever the content is the same. Bodies that no record refers to " +
    "are left out, bodies that are missing are named. docs/formats/tape-bundle.md describes the file.",
  args: [TAPE],
  flags: TAPE_BUNDLE_FLAGS,
  settings: [],
  examples: ["assay tape bundle run.tape", "assay tape bundle run.tape --annotations review.jsonl --output run.tar.gz"],
  exits: {
    1: `${NOT_LOADED_OR_WRITTEN}, or a stored body is damaged`,
    2: "the file exists, or bodies are missing and --require-bodies is given",
  },
  load: async () => (await import("../tape-bundle.ts")).tapeBundle,
});

export const TAPE_UNBUNDLE_FLAGS = {
  output: {
    type: "text",
    value: "DIR",
    summary: "The folder to unpack into, made when it is missing; else the working directory.",
  },
  requireBodies: { type: "switch", summary: "Unpack nothing when a body that the tape refers to is missing." },
  maxBytes: {
    type: "integer",
    value: "N",
    min: 0,
    summary: "Refuse a bundle that holds more than this (default: 4 GiB).",
  },
  force: FORCE,
} as const satisfies Flags;

export const tapeUnbundle = command({
  name: "tape unbundle",
  summary: "Unpack what `tape bundle` packed.",
  about:
    "Everything is checked first: names, sizes, the hash of every file and the digest of the tape. Nothing is written unless all is well.",
  args: [{ name: "FILE", summary: "A bundle, also a compressed one." }],
  flags: TAPE_UNBUNDLE_FLAGS,
  settings: [],
  examples: ["assay tape unbundle run.tape.bundle.tar", "assay tape unbundle run.tar.gz --output recordings/today"],
  exits: {
    1: "it is no bundle, damaged, too large or of a newer version, or cannot be written",
    2: "a file is in the way, or bodies are missing and --require-bodies is given",
  },
  load: async () => (await import("../tape-unbundle.ts")).tapeUnbundle,
});

export const TAPE_COMPARE_COMMANDS: readonly AnyCommand[] = [tapeDiff, tapeReplay, tapeBundle, tapeUnbundle];
