import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { GATE_RULES, misplacedRule, unenforcedRule } from "../../protocol/gates/interrupt-data.ts";
import { Type } from "../../protocol/schema.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";

export const GOVERNED_GATE = "core.openwop.governance.approvalGate";

const LONGEST_MS = 366 * 24 * 3600 * 1000;

export const ResumeSchema = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

export const DEADLINE_FIELDS = {
  timeoutMs: Type.Optional(Type.Integer({ minimum: 0, maximum: LONGEST_MS })),
  timeoutSec: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: LONGEST_MS / 1000 })),
};

/** Whether a decision also holds in branches of the run whose gate shows the same. */
export const BRANCH_FIELDS = { approvalHoldsForBranches: Type.Optional(Type.Boolean()) };

const Short = Type.Optional(Type.String({ minLength: 1, maxLength: 1024 }));

/** The limits are those of the data of an interrupt, so that a gate that could not be raised is refused at registration. */
export const ARTIFACT_FIELDS = {
  title: Short,
  description: Type.Optional(Type.String()),
  artifactId: Short,
  artifactType: Short,
  artifactData: Type.Optional(Type.Unknown()),
};

export function misplaced(config: Readonly<Record<string, unknown>>, governed: boolean): string | undefined {
  const name = misplacedRule(config, governed);
  if (name === undefined) return undefined;
  return `sets ${name}, which only ${governed ? "core.approvalGate" : GOVERNED_GATE} holds to`;
}

/** The problem with a rule about voters that would not be enforced here. */
export function inVain(rules: Readonly<Record<string, unknown>>, remedy: string): string | undefined {
  const name = unenforcedRule(rules);
  return name === undefined ? undefined : `sets ${name}, which would not be held to; ${remedy}`;
}

/** Finds a member of a gate's config that the gate does not know, such as a misspelled rule: its author may rely on it. */
export function unknownMember(
  config: Readonly<Record<string, unknown>>,
  { properties }: { readonly properties: object },
): string | undefined {
  const names = Object.keys(properties);
  // Rules of gates that require nothing are accepted; `inVain` refuses the others.
  const unknown = Object.keys(config).find((name) => !names.includes(name) && !GATE_RULES.includes(name));
  if (unknown === undefined) return undefined;
  const nearest = closestTo(unknown, names);
  return `sets ${unknown}, which it does not know; ${nearest === undefined ? `it knows ${names.join(", ")}` : `did you mean ${nearest}?`}`;
}

/** Too short to be found as a misspelling of the rule. */
const APPROVERS = /^approvers?$/i;

/** Finds a member that is probably a misspelled rule of a gate, in data that may have any member. */
export function misspelledRule(data: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of Object.keys(data)) {
    const rule = GATE_RULES.includes(name)
      ? undefined
      : APPROVERS.test(name)
        ? "approversList"
        : closestTo(name, GATE_RULES);
    if (rule !== undefined) return `sets ${name}, which would not be held to; did you mean ${rule}?`;
  }
  return undefined;
}

/** The remedy for rules that are given as inputs of a gate. */
export const IN_CONFIG = "write it in config: a gate takes its rules from nowhere else";

/** The remedy for interrupts that are not gates. */
export const ONLY_GATES = "only gates say who may decide: put one behind it";

/** The time limit; 0 is none, as in the fixtures of the protocol. */
export function timeoutOf(config: Readonly<Record<string, unknown>>): { timeoutMs?: number } {
  const { timeoutMs, timeoutSec } = config as { timeoutMs?: number; timeoutSec?: number };
  const ms = timeoutSec === undefined ? timeoutMs : Math.ceil(timeoutSec * 1000);
  return ms === undefined || ms === 0 ? {} : { timeoutMs: ms };
}

/** The artifact under review: the input `artifact` or `artifactData`, else that of the config. */
export function artifactOf(
  node: WorkflowNode,
  config: Readonly<Record<string, unknown>>,
  inputs: Readonly<Record<string, unknown>>,
) {
  const { artifactId, artifactType, title, description } = config as Readonly<Record<string, string | undefined>>;
  const artifactData = inputs["artifact"] ?? inputs["artifactData"] ?? config["artifactData"];
  return {
    artifactId: artifactId ?? node.id,
    artifactType: artifactType ?? node.artifactType ?? "approval",
    title: title ?? (node.name === "" ? node.id : node.name),
    ...defined({ description, artifactData }),
  };
}

/** The problem with a gate that needs more approvals than it has approvers: it could never open. */
export function unreachable(config: {
  readonly approversList?: readonly string[];
  readonly approverGroupRefs?: readonly string[];
  readonly approverRoleRefs?: readonly string[];
  readonly requiredApprovals?: number;
  readonly minHumans?: number;
}): string | undefined {
  const required = Math.max(config.requiredApprovals ?? 1, config.minHumans ?? 0);
  const approvers = new Set(config.approversList ?? []).size;
  const others = (config.approverGroupRefs?.length ?? 0) + (config.approverRoleRefs?.length ?? 0);
  if (approvers === 0 || others > 0 || required <= approvers) return undefined;
  return `asks for ${required} approvals and names ${approvers} ${approvers === 1 ? "approver" : "approvers"}`;
}
