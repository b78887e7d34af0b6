import { CHANNELS } from "../../protocol/promotion/deployment-channels.ts";
import { type AnyCommand, CLIENT, command, type Flags } from "../program/command.ts";

const AGENT = { name: "AGENT", summary: "The id of an agent, like local.acme.triage." } as const;

export const DEPLOY_FLAGS = {
  to: { type: "text", value: "STATE", choices: ["test", "staged", "active"], summary: "Promote it to this state." },
  pause: { type: "switch", summary: "Take it out of service for a while; --to active brings it back." },
  deprecate: { type: "switch", summary: "Take it out of service for good. Runs that have it keep it." },
  rollback: { type: "switch", summary: "Put the version back whose place it took." },
  channel: {
    type: "text",
    value: "NAME",
    choices: [...CHANNELS],
    summary: "With --to active: who asks for this channel gets it; stable unless told otherwise.",
  },
  canary: {
    type: "integer",
    value: "PERCENT",
    min: 0,
    summary: "Its share of its channels, the rest stays with the version before. Alone: change the share.",
  },
  eval: {
    type: "text",
    value: "RUN",
    summary: "The evaluation that speaks for it; latest for the newest one of this agent.",
  },
  reason: { type: "text", value: "LABEL", summary: "A label for the record, like latency-regression." },
  wait: {
    type: "integer",
    value: "SECONDS",
    min: 1,
    summary: "Where people have to let it pass, wait that long for them.",
  },
} as const satisfies Flags;

export const agentDeploy = command({
  name: "agent deploy",
  summary: "Promote a version of an agent, pause it, roll it back, or change its share.",
  about:
    "A version goes from draft to test, staged and active, one step at a time. What a step needs beside the scope of the key is in the " +
    "promotion policy: people who let it pass, an evaluation that speaks for it. A refusal lists every condition and how it stands. Where " +
    "people are asked, send the same command again when they have decided, or use --wait.",
  args: [AGENT, { name: "VERSION", summary: "An installed version of it." }],
  flags: DEPLOY_FLAGS,
  settings: CLIENT,
  examples: [
    "assay agent deploy local.acme.triage 1.2.0 --to test",
    "assay agent deploy local.acme.triage 1.2.0 --to active --canary 10 --eval RUN --wait 3600",
    "assay agent deploy local.acme.triage 1.2.0 --canary 100",
    "assay agent deploy local.acme.triage 1.2.0 --rollback --reason latency-regression",
  ],
  exits: {
    0: "it is deployed as asked",
    1: "people said no, or the evaluation does not speak for it",
    2: "there is no such move, agent or version",
    3: "the key may not do this",
    5: "people have not decided yet",
  },
  load: async () => (await import("./agent-deploy.ts")).agentDeploy,
});

export const agentDeployments = command({
  name: "agent deployments",
  summary: "List the versions of an agent and what became of them.",
  args: [AGENT],
  flags: {},
  settings: CLIENT,
  examples: ["assay agent deployments local.acme.triage"],
  load: async () => (await import("./agent-deployments.ts")).agentDeployments,
});

const SUBJECT = {
  name: "AGENT",
  summary: "The id of an agent, or default for agents without a policy of their own.",
} as const;

export const POLICY_SET_FLAGS = {
  evidenceMode: {
    type: "list",
    value: "MODE",
    summary:
      "Evidence needs this mode of the suite, in place of all; several with commas, or repeated. For every requiredEval of the file.",
  },
  evidenceTask: {
    type: "list",
    value: "ID",
    summary: "Evidence needs this task of the suite, in place of all; several with commas, or repeated.",
  },
} as const satisfies Flags;

export const policySet = command({
  name: "policy set",
  summary: "Say what the transitions of an agent need: people, an evaluation, or both.",
  about:
    "What each member of the file means is in docs/promotion.md. Approvals that were given under another policy no longer count.",
  args: [SUBJECT, { name: "FILE", summary: "The rules as JSON." }],
  flags: POLICY_SET_FLAGS,
  settings: CLIENT,
  examples: [
    "assay policy set default promotion.json",
    "assay policy set local.acme.triage strict.json --evidence-mode golden",
  ],
  exits: { 2: "the rules are not valid, or name a role, scope, suite, mode or task that is not there" },
  load: async () => (await import("./policy-set.ts")).policySet,
});

export const policyShow = command({
  name: "policy show",
  summary: "Show what transitions need: of one agent, or of all.",
  args: [{ ...SUBJECT, optional: true }],
  flags: {},
  settings: CLIENT,
  examples: ["assay policy show", "assay policy show default"],
  load: async () => (await import("./policy-show.ts")).policyShow,
});

export const policyRemove = command({
  name: "policy remove",
  summary: "Remove the policy of an agent: it is under the default one then.",
  args: [SUBJECT],
  flags: {},
  settings: CLIENT,
  examples: ["assay policy remove local.acme.triage"],
  load: async () => (await import("./policy-remove.ts")).policyRemove,
});

export const DEPLOYMENT_COMMANDS: readonly AnyCommand[] = [
  agentDeploy,
  agentDeployments,
  policySet,
  policyShow,
  policyRemove,
];
