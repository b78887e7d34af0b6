import { type AnyCommand, command, type Flags } from "../../program/command.ts";

export const FINDING_FORMATS = ["report", "github", "sarif", "text"] as const;
export type FindingFormat = (typeof FINDING_FORMATS)[number];

export const VALIDATE_FLAGS = {
  tape: { type: "text", value: "TAPE", summary: "The tape that the annotations are about." },
  report: { type: "text", value: "FILE", summary: "Write the report here and not to standard output." },
  format: {
    type: "text",
    value: "FORMAT",
    choices: FINDING_FORMATS,
    summary: "How problems are printed: report (JSON, the default), github, sarif or text.",
  },
} as const satisfies Flags;

export const validate = command({
  name: "tape validate",
  summary: "Check the annotations of a sidecar against their tape.",
  about:
    "Prints a report as JSON, also without --json: how many annotations there are of which kind, and every problem in the order of " +
    "the file. For people there is --format text; for continuous integration, github (workflow commands) and sarif (SARIF " +
    "2.1.0), both also for files that do not load. With --report the report goes to a file, and what --format asks for is " +
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
  load: async () => (await import("../tape-validate.ts")).validateTape,
});

export const TAPE_CHECK_COMMANDS: readonly AnyCommand[] = [validate];
