import { type AnyCommand, CLIENT, command, type Flags } from "../../program/command.ts";

const TAPE = { name: "TAPE", summary: "The tape that the annotations are about; the run is found by its digest." };

const SYNC_FLAGS = {
  annotations: { type: "text", value: "SIDECAR", summary: "The annotations; TAPE.annotations.jsonl unless given." },
  run: {
    type: "text",
    value: "RUN",
    summary: "The run itself, whether it came as a tape or not; TAPE is not read then.",
  },
  dryRun: { type: "switch", summary: "Only show what would change." },
} as const satisfies Flags;

export const PUSH_FLAGS = {
  ...SYNC_FLAGS,
  prune: {
    type: "switch",
    summary: "Retract your own rows that were pushed before and are no longer in the file.",
  },
} as const satisfies Flags;

export const push = command({
  name: "tape push",
  summary: "Send the rows of a sidecar to the server as annotations.",
  about:
    "All rows are taken or none. What is on the server already stays as it is, so pushing twice changes nothing; a row that says " +
    "something else than before supersedes what it said. The file is kept as it was written, without its secrets. Rows of other " +
    "authors need the scope judgments:import. docs/tapes.md has the table of kinds and signals.",
  args: [TAPE],
  flags: PUSH_FLAGS,
  settings: CLIENT,
  examples: ["assay tape push run.tape --dry-run", "assay tape push run.tape", "assay tape push run.tape --prune"],
  exits: {
    1: "the tape or the sidecar does not load",
    2: "the server has no run of the tape, or refused rows",
    3: "the key may not annotate, or not bring what others said",
  },
  load: async () => (await import("../tape-push.ts")).pushTape,
});

export const PULL_FLAGS = SYNC_FLAGS;

export const pull = command({
  name: "tape pull",
  summary: "Write the sidecar of a run as it is on the server.",
  about:
    "Rows that nobody changed are there byte for byte, annotations that were made on the server are new rows, and rows that were " +
    "retracted there are gone. What is only in the file here stays: rows that were never pushed, changes that were not, comments, " +
    "and whatever the server was not shown because it looked like a secret.",
  args: [TAPE],
  flags: PULL_FLAGS,
  settings: CLIENT,
  examples: ["assay tape pull run.tape --dry-run", "assay tape pull run.tape"],
  exits: {
    1: "the tape or the sidecar that is here does not load, or the file cannot be written",
    2: "the server has no run of the tape",
  },
  load: async () => (await import("../tape-pull.ts")).pullTape,
});

export const TAPE_SYNC_COMMANDS: readonly AnyCommand[] = [push, pull];
