import { type AnyCommand, command } from "../program/command.ts";

const workflows = () => import("./workflows.ts");

export const WORKFLOW_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "workflow register",
    summary: "Register workflow definitions for the tenant of the key.",
    args: [{ name: "FILE", summary: "A JSON file with one definition; - reads standard input.", many: true }],
    examples: ["assay workflow register greet.json", "assay workflow register workflows/*.json"],
    exits: { 2: "at least one file was refused; the others are registered" },
    load: async () => (await workflows()).workflowRegister,
  }),
  command({
    name: "workflow list",
    summary: "List the workflows this key can start.",
    examples: ["assay workflow list"],
    load: async () => (await workflows()).workflowList,
  }),
  command({
    name: "workflow show",
    summary: "Print a definition exactly as it was registered.",
    args: [{ name: "WORKFLOW", summary: "The id of a workflow." }],
    examples: ["assay workflow show greet > greet.json"],
    load: async () => (await workflows()).workflowShow,
  }),
];
