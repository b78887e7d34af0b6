import { type AnyCommand, CLIENT, command } from "../program/command.ts";

export const workflowRegister = command({
  name: "workflow register",
  summary: "Register workflow definitions for the tenant of the key.",
  args: [{ name: "FILE", summary: "A JSON file with one definition; - reads standard input.", many: true }],
  flags: {},
  settings: CLIENT,
  examples: ["assay workflow register greet.json", "assay workflow register workflows/*.json"],
  exits: { 2: "at least one file was refused; the others are registered" },
  load: async () => (await import("./workflow-register.ts")).workflowRegister,
});

export const workflowList = command({
  name: "workflow list",
  summary: "List the workflows this key can start.",
  args: [],
  flags: {},
  settings: CLIENT,
  examples: ["assay workflow list"],
  load: async () => (await import("./workflow-list.ts")).workflowList,
});

export const workflowShow = command({
  name: "workflow show",
  summary: "Print a definition exactly as it was registered.",
  args: [{ name: "WORKFLOW", summary: "The id of a workflow." }],
  flags: {},
  settings: CLIENT,
  examples: ["assay workflow show greet > greet.json"],
  load: async () => (await import("./workflow-show.ts")).workflowShow,
});

export const WORKFLOW_COMMANDS: readonly AnyCommand[] = [workflowRegister, workflowList, workflowShow];
