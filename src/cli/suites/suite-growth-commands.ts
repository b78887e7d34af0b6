import { type AnyCommand, CLIENT, command, DATABASE, type Flags } from "../program/command.ts";

export const ADD_FROM_FLAGS = {
  to: {
    type: "text",
    value: "SUITE",
    summary:
      "The suite file, or the id of a suite that is kept where the run is; the suite of the evaluation or of the agent unless given.",
  },
  taskId: { type: "text", value: "ID", summary: "What to call the task." },
  annotation: {
    type: "text",
    value: "ID",
    summary: "Which correction, where there are several; the newest unless given.",
  },
  id: {
    type: "text",
    value: "ID",
    summary: "With --to of a file that does not exist: the id of the suite that it begins.",
  },
  tape: {
    type: "text",
    value: "TAPE",
    summary: "Make tasks of a recorded tape and what people wrote in its sidecar. Needs no server.",
  },
  check: { type: "switch", summary: "Only show what would come of it." },
} as const satisfies Flags;

export const suiteAddFrom = command({
  name: "suite add-from",
  summary: "Make a task of a run that somebody corrected, and prove that it tells right from wrong.",
  about:
    "The task asks what the run was asked, with what tools answered and what was remembered then, and expects the correction. It is added only if it " +
    "fails on the recorded answer and passes on the correction. The suite gets a new version; the one before stays as it is. Which run a task " +
    "comes from is kept (`suite links`), for a file also beside it in FILE.links.jsonl. Of a tape every step counts that a person " +
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
  exits: { 2: "nobody corrected it, the task would prove nothing, or the suite has it already; nothing was written" },
  load: async () => (await import("./suite-add-from.ts")).suiteAddFrom,
});

export const SUITE_LINKS_FLAGS = {
  suite: { type: "text", value: "ID", summary: "Only tasks of this suite." },
  run: {
    type: "text",
    value: "RUN",
    summary: "Only tasks that were made of this run; latest for the newest evaluation.",
  },
} as const satisfies Flags;

export const suiteLinks = command({
  name: "suite links",
  summary: "List the tasks that were made of runs, with the corrections they expect.",
  args: [],
  flags: SUITE_LINKS_FLAGS,
  settings: [...CLIENT, ...DATABASE],
  examples: ["assay suite links --run run-01k4…", "assay suite links --suite acme.support.evals.refunds"],
  load: async () => (await import("./suite-links.ts")).suiteLinks,
});

export const SUITE_GROWTH_COMMANDS: readonly AnyCommand[] = [suiteAddFrom, suiteLinks];
