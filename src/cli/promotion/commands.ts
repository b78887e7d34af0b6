import type { CHANNELS } from "../../protocol/promotion/api.ts";
import { type AnyCommand, choice, command, integer, list, text, toggle } from "../program/command.ts";

const AGENT = { name: "AGENT", summary: "The id of an agent, like local.acme.triage." } as const;
const SUBJECT = {
  name: "AGENT",
  summary: "The id of an agent, or default for agents without a policy of their own.",
} as const;

const deploy = () => import("./deploy.ts");
const policies = () => import("./policies.ts");

// A copy, because help texts must not load the schemas; the compiler compares the lists.
const CHANNEL_NAMES: typeof CHANNELS = ["stable", "canary"];

export const DEPLOY_FLAGS = {
  to: choice("STATE", ["test", "staged", "active"], "Promote it to this state."),
  pause: toggle("Take it out of service for a while; --to active brings it back."),
  deprecate: toggle("Take it out of service for good. Runs that have it keep it."),
  rollback: toggle("Put back the version that it replaced."),
  channel: choice("NAME", CHANNEL_NAMES, "With --to active: the channel to put it on; stable unless given."),
  canary: integer(
    "PERCENT",
    0,
    "Its share of its channels; the version before keeps the rest. Alone: change the share.",
  ),
  eval: text("RUN", "The evaluation that is its evidence; latest for the newest one of this agent."),
  reason: text("LABEL", "A label for the record, like latency-regression."),
  wait: integer("SECONDS", 1, "Where the transition needs approval, wait for it that long."),
};

export const POLICY_SET_FLAGS = {
  evidenceMode: list(
    "MODE",
    "Evidence needs this mode of the suite, instead of all; several with commas, or repeated. For every requiredEval of the file.",
  ),
  evidenceTask: list("ID", "Evidence needs this task of the suite, instead of all; several with commas, or repeated."),
};

export const DEPLOYMENT_COMMANDS: readonly AnyCommand[] = [
  command({
    name: "agent deploy",
    summary: "Promote a version of an agent, pause it, roll it back, or change its share.",
    about:
      "A version goes from draft to test, staged and active, one step at a time. What a step needs besides the scope of the key is in the " +
      "promotion policy: approval by people, an evaluation as evidence. A refusal lists every condition and whether it is met. Where " +
      "approval is missing, send the same command again when it was given, or use --wait.",
    args: [AGENT, { name: "VERSION", summary: "An installed version of it." }],
    flags: DEPLOY_FLAGS,
    examples: [
      "assay agent deploy local.acme.triage 1.2.0 --to test",
      "assay agent deploy local.acme.triage 1.2.0 --to active --canary 10 --eval RUN --wait 3600",
      "assay agent deploy local.acme.triage 1.2.0 --canary 100",
      "assay agent deploy local.acme.triage 1.2.0 --rollback --reason latency-regression",
    ],
    exits: {
      0: "it is deployed as asked",
      1: "approval was refused, or the evaluation is no sufficient evidence",
      2: "there is no such transition, agent or version",
      3: "the key may not do this",
      5: "approval is still missing",
    },
    load: async () => (await deploy()).agentDeploy,
  }),
  command({
    name: "agent deployments",
    summary: "List the versions of an agent with their states, channels and shares.",
    args: [AGENT],
    examples: ["assay agent deployments local.acme.triage"],
    load: async () => (await deploy()).agentDeployments,
  }),
  command({
    name: "policy set",
    summary: "Set what the transitions of an agent need: approval, an evaluation, or both.",
    about:
      "The members of the file are in docs/promotion.md. Approvals that were given under another policy no longer count.",
    args: [SUBJECT, { name: "FILE", summary: "The rules as JSON." }],
    flags: POLICY_SET_FLAGS,
    examples: [
      "assay policy set default promotion.json",
      "assay policy set local.acme.triage strict.json --evidence-mode golden",
    ],
    exits: { 2: "the rules are not valid, or name a role, scope, suite, mode or task that does not exist" },
    load: async () => (await policies()).policySet,
  }),
  command({
    name: "policy show",
    summary: "Show what transitions need: of one agent, or of all.",
    args: [{ ...SUBJECT, optional: true }],
    examples: ["assay policy show", "assay policy show default"],
    load: async () => (await policies()).policyShow,
  }),
  command({
    name: "policy remove",
    summary: "Remove the policy of an agent; the default policy applies to it then.",
    args: [SUBJECT],
    examples: ["assay policy remove local.acme.triage"],
    load: async () => (await policies()).policyRemove,
  }),
];
