import { CLIENT, command, DATABASE, type Flags } from "../program/command.ts";

export const EVAL_OVERRIDE_FLAGS = {
  rating: {
    type: "text",
    value: "N",
    choices: ["1", "2", "3", "4", "5"],
    summary: "How good it is: 1 is a score of 0, 5 of 1.",
  },
  correction: {
    type: "text",
    value: "TEXT|@FILE|-",
    summary: "What it should have answered. Marks the task as disputed; `suite add-from` makes a task of it.",
  },
  flag: { type: "switch", summary: "Somebody should look at it. Marks the task as disputed." },
  note: { type: "text", value: "TEXT", summary: "A remark." },
  supersedes: { type: "text", value: "ANNOTATION", summary: "Replace this earlier judgment of yours." },
} as const satisfies Flags;

export const evalOverride = command({
  name: "eval override",
  summary: "Disagree with the score of a task.",
  about:
    "The same as `annotate` on the event of the score. The evaluation stays as it is; `eval show` has what people say beside it. Only people " +
    "override, the newest word counts, and one that was adjudicated in a review queue before all.",
  args: [
    { name: "RUN", summary: "The id of an evaluation; latest for the newest one." },
    { name: "TASK", summary: "The id of a task of its suite." },
    { name: "VERDICT", summary: "pass or fail.", optional: true },
  ],
  flags: EVAL_OVERRIDE_FLAGS,
  settings: [...CLIENT, ...DATABASE],
  examples: [
    'assay eval override run-01k4… names-the-window pass --note "says it in other words"',
    "assay eval override run-01k4… names-the-window --rating 4",
    'assay eval override run-01k4… names-the-window --correction "Within 30 days."',
  ],
  load: async () => (await import("./eval-override.ts")).evalOverride,
});
