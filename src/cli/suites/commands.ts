import { type AnyCommand, CLIENT, command, type Flags } from "../program/command.ts";

const FILES = {
  name: "FILE",
  summary: "A JSON file with one suite, or a folder whose *.json files are suites.",
  many: true,
} as const;

export const VALIDATE_SUITE_FLAGS = {
  strict: { type: "switch", summary: "Let warnings fail the check too." },
} as const satisfies Flags;

export const suiteValidate = command({
  name: "suite validate",
  summary: "Check eval suites, and list everything that is wrong with them.",
  about:
    "Each problem has its place in the file, what is wrong and what to do about it. Warnings are about what can be run and is " +
    "probably not meant. Secret-shaped text is refused and never printed. Needs no server.",
  args: [FILES],
  flags: VALIDATE_SUITE_FLAGS,
  settings: [],
  examples: ["assay suite validate suites/refunds.json", "assay suite validate --strict suites"],
  exits: { 0: "there is no problem", 2: "there is at least one problem, or a file cannot be read" },
  load: async () => (await import("./suite-validate.ts")).suiteValidate,
});

export const INIT_SUITE_FLAGS = {
  id: { type: "text", value: "ID", summary: "The id of the suite, like acme.support.evals.refunds." },
  force: { type: "switch", summary: "Replace the file if it exists." },
} as const satisfies Flags;

export const suiteInit = command({
  name: "suite init",
  summary: "Write a small eval suite to begin with.",
  about:
    "Four tasks, one for each way to compare an output and one with fixtures, that can be run as they are. What each member means " +
    "is in docs/evals.md. A file that exists is left alone unless you say otherwise.",
  args: [{ name: "FILE", summary: "Where to write it; suite.json unless told otherwise.", optional: true }],
  flags: INIT_SUITE_FLAGS,
  settings: [],
  examples: ["assay suite init", "assay suite init suites/refunds.json --id acme.support.evals.refunds"],
  exits: { 2: "the file exists, cannot be written, or the id is not one" },
  load: async () => (await import("./suite-init.ts")).suiteInit,
});

export const suitePush = command({
  name: "suite push",
  summary: "Keep eval suites on a server, for the tenant of the key.",
  about: "What is there under an id and a version never changes: to change a suite, raise its version.",
  args: [FILES],
  flags: {},
  settings: CLIENT,
  examples: ["assay suite push suites/refunds.json", "assay suite push suites"],
  exits: { 2: "at least one suite was refused; the others are kept" },
  load: async () => (await import("./suite-push.ts")).suitePush,
});

export const LIST_SUITE_FLAGS = {
  suite: { type: "text", value: "ID", summary: "Only the versions of this suite." },
} as const satisfies Flags;

export const suiteList = command({
  name: "suite list",
  summary: "List the eval suites of a server that this key can use.",
  args: [],
  flags: LIST_SUITE_FLAGS,
  settings: CLIENT,
  examples: ["assay suite list", "assay suite list --suite acme.support.evals.refunds"],
  load: async () => (await import("./suite-list.ts")).suiteList,
});

export const suiteShow = command({
  name: "suite show",
  summary: "Print an eval suite of a server as it was written, with control characters escaped.",
  args: [
    {
      name: "SUITE",
      summary: "Its id and version, like acme.support.evals.refunds@1.0.0; the id alone is the highest.",
    },
  ],
  flags: {},
  settings: CLIENT,
  examples: ["assay suite show acme.support.evals.refunds@1.0.0 > refunds.json"],
  load: async () => (await import("./suite-show.ts")).suiteShow,
});

export const SUITE_COMMANDS: readonly AnyCommand[] = [suiteValidate, suiteInit, suitePush, suiteList, suiteShow];
