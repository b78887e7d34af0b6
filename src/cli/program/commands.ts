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
import { MAINTENANCE_COMMANDS, SERVE_COMMANDS } from "../server/commands.ts";
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
  ...MAINTENANCE_COMMANDS,
];

export const GROUPS: Readonly<Record<string, string>> = {
  run: "Start, follow and stop runs.",
  gates: "Show figures of gates.",
  feedback: "Show how runs were judged.",
  queue: "Have runs judged by several people, and measure their agreement.",
  tape: "Judge recorded runs in sidecar files: validate, annotate, compare, and exchange them with a server.",
  review: "Request reviews of a file, decide on each remark, and send the changed file again; or provide reviews.",
  agent: "Check, sign, install, list and deploy agents.",
  policy: "Set the conditions under which a version of an agent is deployed.",
  suite: "Write and check eval suites, and keep them on a server.",
  eval: "Evaluate agents with suites, and compare the results.",
  "eval baseline": "Name the evaluations that later ones are compared with.",
  judge: "Compare the judge of evaluations with people, and list its certificates.",
  event: "Send external events to the runs that wait for them.",
  workflow: "Register, list and show workflow definitions.",
  key: "Create, list and revoke API keys.",
  role: "Define roles in addition to the built-in ones.",
  principal: "Set the roles and groups of the holders of keys.",
  webhook: "Post events to other systems, and list the deliveries.",
  audit: "Verify, export and sign the audit chain.",
};
