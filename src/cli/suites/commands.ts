import { type AnyCommand, CLIENT, command, DATABASE, text, toggle } from "../program/command.ts";

const FILES = {
  name: "FILE",
  summary: "A JSON file with one suite, or a folder whose *.json files are suites.",
  many: true,
} as const;

const files = () => import("./suite-files.ts");
const kept = () => import("./kept-suites.ts");
const growth = () => import("./add-from-run.ts");

export const VALIDATE_SUITE_FLAGS = {
  strict: toggle("Let warnings fail the check too."),
};

export const INIT_SUITE_FLAGS = {
  id: text("ID", "The id of the suite, like acme.support.evals.refunds."),
  force: toggle("Replace the file if it exists."),
};

export const LIST_SUITE_FLAGS = {
  suite: text("ID", "Only the versions of this suite."),
};

export const ADD_FROM_FLAGS = {
  to: text(
    "SUITE",
    "The suite file, or the id of a suite that is kept where the run is; the suite of the evaluation or of the agent unless given.",
  ),
  taskId: text("ID", "What to call the task."),
  annotation: text("ID", "Which correction, where there are several; the newest unless given."),
  id: text("ID", "With --to of a file that does not exist: the id of the suite that it begins."),
  tape: text("TAPE", "Make tasks of a recorded tape and the rows of its sidecar. Needs no server."),
  check: toggle("Only show the task and its proof."),
};

export const SUITE_LINKS_FLAGS = {
  suite: text("ID", "Only tasks of this suite."),
  run: text("RUN", "Only tasks that were made of this run; latest for the newest evaluation."),
};

export const SUITE_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "suite validate",
    summary: "Check eval suites, and list everything that is wrong with them.",
    about:
      "Each problem has its place in the file, what is wrong and how to correct it. Warnings are about suites that can be run and " +
      "probably do not check what they should. Text that looks like a secret is refused and never printed. Needs no server.",
    args: [FILES],
    flags: VALIDATE_SUITE_FLAGS,
    settings: [],
    examples: ["assay suite validate suites/refunds.json", "assay suite validate --strict suites"],
    exits: { 0: "there is no problem", 2: "there is at least one problem, or a file cannot be read" },
    load: async () => (await files()).suiteValidate,
  }),
  command({
    name: "suite init",
    summary: "Write a small eval suite to begin with.",
    about:
      "Four tasks, one for each way to compare an output and one with fixtures, that can be run as they are. The members are " +
      "described in docs/evals.md. A file that exists is kept unless --force is given or the question is answered with y.",
    args: [{ name: "FILE", summary: "Where to write it; suite.json unless given.", optional: true }],
    flags: INIT_SUITE_FLAGS,
    settings: [],
    examples: ["assay suite init", "assay suite init suites/refunds.json --id acme.support.evals.refunds"],
    exits: { 2: "the file exists or cannot be written, or the id is not valid" },
    load: async () => (await files()).suiteInit,
  }),
  command({
    name: "suite push",
    summary: "Keep eval suites on a server, for the tenant of the key.",
    about: "A version of a suite never changes on a server: to change a suite, raise its version.",
    args: [FILES],
    examples: ["assay suite push suites/refunds.json", "assay suite push suites"],
    exits: { 2: "at least one suite was refused; the others are kept" },
    load: async () => (await kept()).suitePush,
  }),
  command({
    name: "suite list",
    summary: "List the eval suites of a server that this key can use.",
    flags: LIST_SUITE_FLAGS,
    examples: ["assay suite list", "assay suite list --suite acme.support.evals.refunds"],
    load: async () => (await kept()).suiteList,
  }),
  command({
    name: "suite show",
    summary: "Print an eval suite of a server as it was written, with control characters escaped.",
    args: [
      {
        name: "SUITE",
        summary: "Its id and version, like acme.support.evals.refunds@1.0.0; the id alone is the highest version.",
      },
    ],
    examples: ["assay suite show acme.support.evals.refunds@1.0.0 > refunds.json"],
    load: async () => (await kept()).suiteShow,
  }),
  command({
    name: "suite add-from",
    summary: "Make a task of a run that was corrected, and prove that it tells right from wrong.",
    about:
      "The task has the input of the run, with the answers of tools and the memory that the run had, and expects the correction. It is added only if it " +
      "fails on the recorded answer and passes on the correction. The suite gets a new version; the one before stays as it is. The run of each " +
      "task is kept (`suite links`), for a file also next to it in FILE.links.jsonl. Of a tape every step is taken that a person " +
      "corrected or confirmed.",
    args: [
      {
        name: "RUN|SIDECAR",
        summary:
          "The run; latest for the newest evaluation. With --tape its sidecar, TAPE.annotations.jsonl unless given.",
        optional: true,
      },
    ],
    flags: ADD_FROM_FLAGS,
    settings: [...CLIENT, ...DATABASE],
    examples: [
      "assay suite add-from run-01k4… --to suites/refunds.json",
      "assay suite add-from run-01k4… --to acme.support.evals.refunds --task-id names-the-window",
      "assay suite add-from --tape session.tape session.tape.annotations.jsonl --to suites/refunds.json",
    ],
    exits: {
      2: "there is no correction, the task would prove nothing, or the suite has it already; nothing was written",
    },
    load: async () => (await growth()).suiteAddFrom,
  }),
  command({
    name: "suite links",
    summary: "List the tasks that were made of runs, with the corrections they expect.",
    flags: SUITE_LINKS_FLAGS,
    settings: [...CLIENT, ...DATABASE],
    examples: ["assay suite links --run run-01k4…", "assay suite links --suite acme.support.evals.refunds"],
    load: async () => (await growth()).suiteLinks,
  }),
];
