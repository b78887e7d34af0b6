import { AGENT_COMMANDS } from "../agents/commands.ts";
import { AUDIT_COMMANDS } from "../audit/commands.ts";
import { EVAL_COMMANDS } from "../evals/commands.ts";
import { INBOX_COMMANDS } from "../gates/commands.ts";
import { IDENTITY_COMMANDS } from "../identity/commands.ts";
import { JUDGE_COMMANDS } from "../judges/commands.ts";
import { JUDGMENT_COMMANDS } from "../judgments/commands.ts";
import { DEPLOYMENT_COMMANDS } from "../promotion/commands.ts";
import { QUEUE_COMMANDS } from "../queues/commands.ts";
import { REVIEW_COMMANDS } from "../reviews/commands.ts";
import { EVENT_COMMANDS, RUN_COMMANDS } from "../runs/commands.ts";
import { SERVE_COMMANDS } from "../server/commands.ts";
import { DATABASE_COMMANDS, openapi, schema } from "../server/database-commands.ts";
import { SUITE_COMMANDS } from "../suites/commands.ts";
import { TAPE_COMMANDS } from "../tapes/commands.ts";
import { WEBHOOK_COMMANDS } from "../webhooks/commands.ts";
import { WORKFLOW_COMMANDS } from "../workflows/commands.ts";
import type { AnyCommand } from "./command.ts";

/** Every command, in the order of the help text. */
export const COMMANDS: readonly AnyCommand[] = [
  ...SERVE_COMMANDS,
  ...RUN_COMMANDS,
  ...INBOX_COMMANDS,
  ...JUDGMENT_COMMANDS,
  ...QUEUE_COMMANDS,
  ...TAPE_COMMANDS,
  ...REVIEW_COMMANDS,
  ...AGENT_COMMANDS,
  ...DEPLOYMENT_COMMANDS,
  ...SUITE_COMMANDS,
  ...EVAL_COMMANDS,
  ...JUDGE_COMMANDS,
  ...EVENT_COMMANDS,
  ...WORKFLOW_COMMANDS,
  ...IDENTITY_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...AUDIT_COMMANDS,
  ...DATABASE_COMMANDS,
  openapi,
  schema,
];

/** What the words before a command's own stand for. */
export const GROUPS: Readonly<Record<string, string>> = {
  run: "Start, follow and stop runs.",
  gates: "See how gates have fared.",
  feedback: "See how runs were judged.",
  queue: "Have runs judged by several people, and see how far they agree.",
  tape: "Judge recorded runs in files beside them: validate, annotate, compare, and take them to a server and back.",
  review: "Have a piece of work reviewed by a peer, decide on each remark, and ask again; or be that peer.",
  agent: "Check, sign and install packs of agents, and see what is installed.",
  policy: "Say what has to hold before a version of an agent is deployed.",
  suite: "Write and check eval suites, and keep them on a server.",
  eval: "Evaluate agents with suites, and say whether they got better or worse.",
  "eval baseline": "Name the evaluations that later ones are compared with.",
  judge: "Compare the judge of evaluations with people, and see what it is certified for.",
  event: "Hand events from elsewhere to the runs that wait for them.",
  workflow: "Register and look at workflow definitions.",
  key: "Make, list and end API keys.",
  role: "Define roles beside the built-in ones.",
  principal: "Say what the holders of keys are.",
  webhook: "Have events posted elsewhere, and see how that goes.",
  audit: "Check and keep the audit chain.",
};
