import type { AnyCommand } from "../command.ts";
import { AUDIT_COMMANDS } from "./audit.ts";
import { DATABASE_COMMANDS, openapi } from "./database.ts";
import { KEY_COMMANDS } from "./key.ts";
import { RUN_COMMANDS } from "./run.ts";
import { SERVE_COMMANDS } from "./serve.ts";
import { WORKFLOW_COMMANDS } from "./workflow.ts";

/** Every command, in the order of the help text. */
export const COMMANDS: readonly AnyCommand[] = [
  ...SERVE_COMMANDS,
  ...RUN_COMMANDS,
  ...WORKFLOW_COMMANDS,
  ...KEY_COMMANDS,
  ...AUDIT_COMMANDS,
  ...DATABASE_COMMANDS,
  openapi,
];

/** What the words before a command's own stand for. */
export const GROUPS: Readonly<Record<string, string>> = {
  run: "Start, follow and stop runs.",
  workflow: "Register and look at workflow definitions.",
  key: "Make, list and end API keys.",
  audit: "Check and keep the audit chain.",
};
