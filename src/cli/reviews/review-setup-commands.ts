import { type AnyCommand, command, type Flags } from "../program/command.ts";

export const REVIEW_SETUP_FLAGS = {
  dir: { type: "text", value: "DIR", summary: "The project it is for; the working directory unless given." },
  force: { type: "switch", summary: "Replace a file that says something else, without asking." },
} as const satisfies Flags;

export const reviewSetup = command({
  name: "review setup",
  summary: "Make the reviewer known to the `opencode` command.",
  about:
    "Writes the agent file of `qualitative-reviewer` into .opencode/agent of a project. Without it the command answers in the name of " +
    "another agent, which shows up as the outcome wrong_agent. A file that says something else is replaced only when you agree. " +
    "Commands other than opencode, `assay review provide` among them, need no setup.",
  args: [{ name: "TOOL", summary: "What is to know the reviewer: opencode." }],
  flags: REVIEW_SETUP_FLAGS,
  settings: [],
  examples: ["assay review setup opencode", "assay review setup opencode --dir ../service --force"],
  exits: {
    0: "the file is there",
    2: "there is another file and it is not to be replaced, or nobody can be asked; or the file cannot be written",
  },
  load: async () => (await import("./review-setup.ts")).reviewSetup,
});

export const REVIEW_INSTRUCTIONS_FLAGS = {
  command: {
    type: "text",
    value: "PROGRAM",
    summary: "The reviewer that the agent is to ask, as for `review start`; opencode unless given.",
  },
  arg: { type: "list", value: "ARG", summary: "An argument of that program; may be repeated." },
} as const satisfies Flags;

export const reviewInstructions = command({
  name: "review instructions",
  summary: "Print what to write into an agent's prompt so that it asks for reviews.",
  about: "A short text with the exact commands, to be added to AGENTS.md or wherever the agent's instructions are.",
  args: [],
  flags: REVIEW_INSTRUCTIONS_FLAGS,
  settings: [],
  examples: [
    "assay review instructions > review-instructions.md",
    "assay review instructions --command assay --arg review --arg provide",
  ],
  load: async () => (await import("./review-instructions.ts")).reviewInstructions,
});

export const REVIEW_SETUP_COMMANDS: readonly AnyCommand[] = [reviewSetup, reviewInstructions];
