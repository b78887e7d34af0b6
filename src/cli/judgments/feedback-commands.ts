import { type AnyCommand, CLIENT, command, type Flags } from "../program/command.ts";

export const FEEDBACK_SUMMARY_FLAGS = {
  workflow: { type: "text", value: "ID", summary: "Only runs of this workflow." },
  agent: { type: "text", value: "ID", summary: "Only runs of this agent." },
  node: { type: "text", value: "ID", summary: "Only judgments about this node; all runs are counted." },
  from: {
    type: "text",
    value: "TIME",
    summary: "Runs that ended since: an instant, a day, or how long ago, such as 7d.",
  },
  to: { type: "text", value: "TIME", summary: "Runs that ended before that." },
  groupBy: {
    type: "text",
    value: "WHAT",
    choices: ["workflow", "agent", "node", "day"],
    summary: "A line for each workflow, agent, node or day.",
  },
} as const satisfies Flags;

export const feedbackSummary = command({
  name: "feedback summary",
  summary: "Show how runs were judged: ratings, corrections, flags, labels, and rates with their intervals.",
  about:
    "Counts runs that have ended and judgments that are live. People come first; agents and code are shown apart and are " +
    "in no figure of people. An interval is Wilson's, of 95 %.",
  args: [],
  flags: FEEDBACK_SUMMARY_FLAGS,
  settings: CLIENT,
  examples: [
    "assay feedback summary --from 7d",
    "assay feedback summary --workflow report --group-by day",
    "assay feedback summary --group-by agent --json",
  ],
  load: async () => (await import("./feedback-summary.ts")).feedbackSummary,
});

export const FEEDBACK_COMMANDS: readonly AnyCommand[] = [feedbackSummary];
