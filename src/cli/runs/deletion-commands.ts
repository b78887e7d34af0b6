import { CLIENT, command, type Flags, RUN } from "../program/command.ts";

export const RUN_DELETE_FLAGS = {
  yes: { type: "switch", summary: "Do not ask. Needed where nobody sits at a terminal." },
} as const satisfies Flags;

export const runDelete = command({
  name: "run delete",
  summary: "Remove runs that have ended, with everything about them, for good.",
  about:
    "The runs that a run dispatched go with it, and so do events, artifacts, gates, judgments and queue items. What stays is " +
    "an entry in the audit log that says nothing of what was in the run.",
  args: [{ ...RUN, many: true }],
  flags: RUN_DELETE_FLAGS,
  settings: CLIENT,
  examples: ["assay run delete run-01k4…", "assay run delete run-01k4… run-01k5… --yes"],
  exits: { 2: "at least one run could not be deleted, or nobody said yes; the others were" },
  load: async () => (await import("./run-delete.ts")).runDelete,
});
