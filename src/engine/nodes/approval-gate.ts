import { defined } from "../../protocol/defined.ts";
import { timedOutText } from "../../protocol/gates/gate-rules.ts";
import { AUTH_REQUIRED, REJECTION_POLICIES } from "../../protocol/gates/interrupt.ts";
import { Actions, APPROVER_FIELDS } from "../../protocol/gates/interrupt-data.ts";
import { type Static, Type } from "../../protocol/schema.ts";
import { registeredSchema } from "../schemas/decide/schema-limits.ts";
import type { NodeOutcome, NodeType, Ports } from "../worker/node-type.ts";
import type { Answer } from "../worker/suspension.ts";
import {
  ARTIFACT_FIELDS,
  artifactOf,
  BRANCH_FIELDS,
  DEADLINE_FIELDS,
  IN_CONFIG,
  inVain,
  misplaced,
  ResumeSchema,
  timeoutOf,
  unknownMember,
  unreachable,
} from "./gate-config.ts";

const Config = Type.Object(
  {
    actions: Type.Optional(Actions),
    requiredApprovals: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    rejectionPolicy: Type.Optional(Type.Enum([...REJECTION_POLICIES])),
    profile: Type.Optional(Type.Enum([AUTH_REQUIRED, "openwop-interrupt-quorum"])),
    ...ARTIFACT_FIELDS,
    resumeSchema: ResumeSchema,
    ...APPROVER_FIELDS,
    ...DEADLINE_FIELDS,
    ...BRANCH_FIELDS,
  },
  { additionalProperties: true },
);
type Config = Static<typeof Config>;

/** A plain gate: all principals with the right to answer approvals may decide, unless it names its approvers. A rejection fails the node. */
export const approvalGate: NodeType = {
  kind: "pure",
  typeId: "core.approvalGate",
  summary: "Waits for one or more approvals. A rejection, or no answer in time, fails the node.",
  config: Config,
  check: problemWith,
  asksPerson: () => true,
  execute: ({ node, config, inputs, answerTo }) => {
    const { actions = ["accept", "reject"], profile, resumeSchema } = config as Config;
    const options = defined({ profile, resumeSchema });
    const artifact = artifactOf(node, config, inputs);
    const data = { ...artifact, actions: [...actions], ...given(config as Config), ...defined({ profile }) };
    const answer = answerTo({ kind: "approval", data, ...timeoutOf(config), ...options });
    return outcomeOf(node.id, answer, (config as Config).requiredApprovals ?? 1);
  },
};

function problemWith(config: Readonly<Record<string, unknown>>, ports: Ports): string | undefined {
  const { resumeSchema } = config as Config;
  if (resumeSchema !== undefined) registeredSchema(resumeSchema, "its resumeSchema");
  return (
    misplaced(config, false) ??
    inVain(ports, IN_CONFIG) ??
    unknownMember(config, Config) ??
    unreachable(config as Config)
  );
}

const PASSED_ON = ["requiredApprovals", "rejectionPolicy", ...Object.keys(APPROVER_FIELDS)] as const;

function given(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(PASSED_ON.filter((name) => config[name] !== undefined).map((name) => [name, config[name]]));
}

/** The outcome of the gate. The artifact in its outputs is the one that was shown: a variable may have changed since. */
function outcomeOf(nodeId: string, answer: Answer, required: number): NodeOutcome {
  const { outcome, reason, by, value, shown, timedOut, approvals } = answer;
  const details = defined({ nodeId, reason });
  if (timedOut) {
    const message = `Gate ${nodeId} stays closed: ${timedOutText(required, approvals)}.`;
    const error = { code: "interrupt_timeout" as const, message, details: { ...details, required, approvals } };
    return { type: "failed", error };
  }
  const decision = value as Readonly<Record<string, unknown>>;
  if (outcome !== "granted" && outcome !== "refined") {
    const message = by === undefined ? `Gate ${nodeId} was rejected.` : `Gate ${nodeId} was rejected by ${by}.`;
    return { type: "failed", error: { code: "approval_rejected", message, details } };
  }
  const approved = outcome === "granted";
  const isEdited = Object.hasOwn(decision, "editedArtifactData");
  const artifact = isEdited ? decision["editedArtifactData"] : shown["artifactData"];
  const outputs = { ...decision, decision: outcome, outcome, approved, ...defined({ artifact }) };
  return { type: "completed", outputs, ...(approved ? {} : { verdict: "refined" as const }) };
}
