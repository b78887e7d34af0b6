import { NamedEvidence, RequiredEval } from "../promotion/evidence.ts";
import { closed, JsonObject, open, ShortName, type TSchema, Type } from "../schema.ts";
import { APPROVAL_ACTIONS, type InterruptKind, REJECTION_POLICIES } from "./interrupt.ts";

const Name = Type.String({ minLength: 1, maxLength: 1024 });
const Names = Type.Array(ShortName, { maxItems: 1000 });

export const Actions = Type.Array(Type.Enum([...APPROVAL_ACTIONS]), { minItems: 1, uniqueItems: true });

export const Questions = Type.Array(
  Type.Object({ id: Name, question: Name, schema: Type.Optional(JsonObject) }, closed),
  { minItems: 1, maxItems: 100 },
);

/** The voters of a gate and the number of votes that it needs. Config of the gates and data of their interrupts alike. */
export const APPROVER_FIELDS = {
  approversList: Type.Optional(Names),
  approverGroupRefs: Type.Optional(Names),
  approverRoleRefs: Type.Optional(Names),
  audience: Type.Optional(
    Type.Object({ subjects: Type.Optional(Names), groups: Type.Optional(Names), roles: Type.Optional(Names) }, closed),
  ),
  forbidSelfApproval: Type.Optional(Type.Boolean()),
  minHumans: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
  requireBoundVotes: Type.Optional(Type.Boolean()),
  requireIndependentVoters: Type.Optional(Type.Boolean()),
};

const Count = Type.Integer({ minimum: 1, maximum: 1000 });

/** The rules of a governed gate. Unreadable rules are refused: otherwise they would not be enforced. */
export const GOVERNED_FIELDS = {
  requiredRole: Type.Optional(ShortName),
  requiredScope: Type.Optional(ShortName),
  quorum: Type.Optional(Count),
  override: Type.Optional(Type.Object({ requiredRole: ShortName, audited: Type.Optional(Type.Literal(true)) }, closed)),
  overrideBypassesQuorum: Type.Optional(Type.Boolean()),
  requiredEval: Type.Optional(RequiredEval),
};

const OF_GOVERNED = ["requiredRole", "requiredScope", "quorum", "override", "requiredEval"];
const OF_PLAIN = ["requiredApprovals", "approversList", "approverGroupRefs", "approverRoleRefs"];

/** A rule that only the other kind of gate enforces: its author would rely on it in vain. */
export function misplacedRule(rules: Readonly<Record<string, unknown>>, governed: boolean): string | undefined {
  const others = governed ? OF_PLAIN : OF_GOVERNED;
  return others.find((name) => isDemanding(rules[name]));
}

const OF_BOTH = ["forbidSelfApproval", "minHumans", "requireIndependentVoters"];

export const GATE_RULES: readonly string[] = [...OF_PLAIN, ...OF_BOTH, ...OF_GOVERNED];

/** A rule of either sort of gate, where nothing holds to any. */
export function unenforcedRule(rules: Readonly<Record<string, unknown>>): string | undefined {
  return GATE_RULES.find((name) => isDemanding(rules[name]));
}

/** Members of an approval's data that only the host writes: a digest of what a gate shows leaves them out. */
const OF_HOST = ["branch", "previous"];

/** A member of this name that a workflow gives would be seen by no digest, and replaced by the host's own before people see it. */
export function hostsMember(names: Readonly<Record<string, unknown>>): string | undefined {
  return OF_HOST.find((name) => Object.hasOwn(names, name));
}

function isDemanding(rule: unknown): boolean {
  return rule !== undefined && rule !== false && rule !== 0 && !(Array.isArray(rule) && rule.length === 0);
}

/** The `data` of an interrupt, by its kind. */
export const INTERRUPT_DATA: Readonly<Record<InterruptKind, TSchema>> = {
  approval: Type.Object(
    {
      artifactId: Name,
      artifactType: Name,
      title: Name,
      actions: Actions,
      description: Type.Optional(Type.String()),
      artifactData: Type.Optional(Type.Unknown()),
      requiredApprovals: Type.Optional(Count),
      rejectionPolicy: Type.Optional(Type.Enum([...REJECTION_POLICIES])),
      gateId: Type.Optional(Name),
      ...GOVERNED_FIELDS,
      evidence: Type.Optional(NamedEvidence),
      ...APPROVER_FIELDS,
    },
    open,
  ),
  clarification: Type.Object({ questions: Questions, contextType: Type.Optional(Type.String()) }, closed),
  "external-event": Type.Object(
    // A correlation of nothing would take any event.
    { eventType: Name, correlation: Type.Record(Type.String(), Type.Unknown(), { minProperties: 1 }) },
    closed,
  ),
  custom: Type.Object({ customKind: Name, payload: Type.Optional(Type.Unknown()) }, closed),
  "low-confidence": Type.Object(
    {
      agentId: Name,
      threshold: Type.Number(),
      observed: Type.Number(),
      decision: Type.Optional(Type.Unknown()),
    },
    open,
  ),
};
