import { type AnyCommand, CLIENT, command, type Flags, RUN } from "../../program/command.ts";

export const TAPE_IMPORT_FLAGS = {
  name: { type: "text", value: "NAME", summary: "What the tape is called there; the name of the file unless given." },
  agent: { type: "text", value: "ID", summary: "The agent whose work the run is; feedback can be grouped by it." },
} as const satisfies Flags;

const tapeImport = command({
  name: "tape import",
  summary: "Make a run of a tape on the server, to be read and judged there.",
  about:
    "The run has an event for each record and has ended; nobody can start, fork or change it. Importing a tape again gives the same " +
    "run. Secrets in it are taken out by the server. Bodies beside the tape go along; those that are missing, or hold a secret, are " +
    "named. Prints the id of the run.",
  args: [{ name: "TAPE", summary: "A recorded run such as run.tape, or a file that `tape bundle` made." }],
  flags: TAPE_IMPORT_FLAGS,
  settings: CLIENT,
  examples: ["assay tape import run.tape", "assay tape import run.tape --agent writer --json"],
  exits: {
    1: "the tape or the bundle does not load",
    2: "the server does not take it: it is too long, or is refused",
    3: "the key may not make runs",
  },
  load: async () => (await import("../tape-import.ts")).tapeImport,
});

export const TAPE_FROM_RUN_FLAGS = {
  output: { type: "text", value: "TAPE", summary: "Where to write; RUN.tape unless given." },
  force: { type: "switch", summary: "Replace the tape and the sidecar when they exist." },
} as const satisfies Flags;

const tapeFromRun = command({
  name: "tape from-run",
  summary: "Write a run as a tape, with its annotations beside it.",
  about:
    "A run that came as a tape is written as it came; of any other, each event becomes a record. Long bodies are put into TAPE.cas/, " +
    "the annotations into TAPE.annotations.jsonl. Files that are there already are left alone unless you say --force.",
  args: [RUN],
  flags: TAPE_FROM_RUN_FLAGS,
  settings: CLIENT,
  examples: ["assay tape from-run run-01k4…", "assay tape from-run run-01k4… --output recordings/night.tape"],
  exits: { 1: "a file cannot be written", 2: "there is no such run, or a file is in the way" },
  load: async () => (await import("../tape-from-run.ts")).tapeFromRun,
});

export const TAPE_SERVER_COMMANDS: readonly AnyCommand[] = [tapeImport, tapeFromRun];
