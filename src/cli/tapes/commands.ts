import { type AnyCommand, command, RUN, text, toggle } from "../program/command.ts";
import { TAPE_COMPARE_COMMANDS } from "./compare-commands.ts";
import { TAPE_FILE_COMMANDS } from "./file-commands.ts";

export const TAPE_IMPORT_FLAGS = {
  name: text("NAME", "The name of the tape on the server; that of the file unless given."),
  agent: text("ID", "The agent that the run is attributed to; feedback can be grouped by it."),
};

export const TAPE_FROM_RUN_FLAGS = {
  output: text("TAPE", "The file to write; RUN.tape unless given."),
  force: toggle("Replace the tape and the sidecar when they exist."),
};

const TAPE = { name: "TAPE", summary: "The tape that the annotations are about; the run is found by its digest." };

const SYNC_FLAGS = {
  annotations: text("SIDECAR", "The annotations; TAPE.annotations.jsonl unless given."),
  run: text("RUN", "The run, also one that was not imported from a tape; TAPE is not read then."),
  dryRun: toggle("Show what would change, and change nothing."),
};

export const PUSH_FLAGS = {
  ...SYNC_FLAGS,
  prune: toggle("Retract your own rows that were pushed before and are no longer in the file."),
};

export const PULL_FLAGS = SYNC_FLAGS;

/** Commands about tapes and sidecars; only those in this file need a server. */

export const TAPE_COMMANDS: readonly AnyCommand[] = [
  ...TAPE_FILE_COMMANDS,
  ...TAPE_COMPARE_COMMANDS,
  command({
    name: "tape import",
    summary: "Import a tape as a run on the server, to be read and judged there.",
    about:
      "The run has an event for each record and has ended; it cannot be started, forked or changed. Importing a tape again returns the same " +
      "run. The server removes secrets. Bodies in TAPE.cas/ are sent too; those that are missing, or contain a secret, are " +
      "named. Prints the id of the run.",
    args: [{ name: "TAPE", summary: "A recorded run such as run.tape, or a file that `tape bundle` made." }],
    flags: TAPE_IMPORT_FLAGS,
    examples: ["assay tape import run.tape", "assay tape import run.tape --agent writer --json"],
    exits: {
      1: "the tape or the bundle does not load",
      2: "the server refused it, such as a tape that is too long",
      3: "the key may not create runs",
    },
    load: async () => (await import("./import.ts")).tapeImport,
  }),
  command({
    name: "tape from-run",
    summary: "Write a run as a tape, and its annotations as a sidecar.",
    about:
      "A run that was imported from a tape is written unchanged; otherwise each event becomes a record. Long bodies are written into TAPE.cas/, " +
      "the annotations into TAPE.annotations.jsonl. Existing files are replaced only with --force.",
    args: [RUN],
    flags: TAPE_FROM_RUN_FLAGS,
    examples: ["assay tape from-run run-01k4…", "assay tape from-run run-01k4… --output recordings/night.tape"],
    exits: { 1: "a file cannot be written", 2: "there is no such run, or a file exists" },
    load: async () => (await import("./from-run.ts")).tapeFromRun,
  }),
  command({
    name: "tape push",
    summary: "Send the rows of a sidecar to the server as annotations.",
    about:
      "All rows are accepted or none. Rows that are on the server already do not change, so pushing twice changes nothing; a row with " +
      "new content supersedes the earlier annotation. The server keeps the file as it was written, without its secrets. Rows of other " +
      "authors need the scope judgments:import. docs/tapes.md has the table of kinds and signals.",
    args: [TAPE],
    flags: PUSH_FLAGS,
    examples: ["assay tape push run.tape --dry-run", "assay tape push run.tape", "assay tape push run.tape --prune"],
    exits: {
      1: "the tape or the sidecar does not load",
      2: "the server has no run of the tape, or refused rows",
      3: "the key may not annotate, or not import rows of other authors",
    },
    load: async () => (await import("./sync.ts")).pushTape,
  }),
  command({
    name: "tape pull",
    summary: "Write the sidecar of a run as it is on the server.",
    about:
      "Unchanged rows are the same byte for byte, annotations that were made on the server are new rows, and rows that were " +
      "retracted there are removed. Content that is only in the local file stays: rows and changes that were not pushed, comments, " +
      "and texts that were not sent because they looked like a secret.",
    args: [TAPE],
    flags: PULL_FLAGS,
    examples: ["assay tape pull run.tape --dry-run", "assay tape pull run.tape"],
    exits: {
      1: "the tape or the local sidecar does not load, or the file cannot be written",
      2: "the server has no run of the tape",
    },
    load: async () => (await import("./sync.ts")).pullTape,
  }),
];
