import { PRINCIPAL_KINDS } from "../identity/identity.ts";
import { Condition } from "../promotion/evidence.ts";
import { RUN_STATUSES } from "../runs/run-status.ts";
import { Count, closed, JsonObject, Name, open, Positive, ShortName, Type } from "../schema.ts";
import { APPROVAL_ACTIONS, INTERRUPT_KINDS } from "./interrupt.ts";

const Text = Type.String();
const Kind = Type.Enum([...INTERRUPT_KINDS]);
const ChildError = Type.Object({ code: Name, message: Name, details: Type.Optional(JsonObject) }, open);

/** Events of gates, of their decisions, and of sub-workflows. Part of the catalogue in `events.ts`. */
export const GATE_EVENTS = {
  "interrupt.requested": {
    tier: "updates",
    summary: "A node asks, and its run waits. Carries the interrupt's payload and its ids.",
    payload: Type.Object(
      {
        kind: Kind,
        key: ShortName,
        data: JsonObject,
        resumeSchema: Type.Optional(JsonObject),
        timeoutMs: Type.Optional(Count),
        runId: Name,
        nodeId: Name,
        interruptId: Name,
        requestedAt: Name,
        correlationId: Type.Optional(Name),
        profile: Type.Optional(Name),
      },
      closed,
    ),
  },
  "interrupt.resolved": {
    tier: "updates",
    summary: "The interrupt is over: answered, decided, or out of time.",
    payload: Type.Object(
      {
        nodeId: Name,
        interruptId: Name,
        kind: Kind,
        resumeValue: Type.Optional(Type.Unknown()),
        resolvedAt: Name,
        resolvedBy: Type.Optional(Name),
        /** Absent for a person. */
        resolvedByKind: Type.Optional(Type.Enum([...PRINCIPAL_KINDS, "token"])),
        outcome: Name,
        reason: Type.Optional(Text),
      },
      open,
    ),
  },
  "approval.requested": {
    tier: "updates",
    summary: "The older twin of interrupt.requested, for plain approvals.",
    payload: Type.Object(
      {
        nodeId: Name,
        interruptId: Name,
        artifactId: Name,
        artifactType: Name,
        title: Name,
        actions: Type.Array(Type.Enum(["accept", "reject", "refine", "edit", "ask"]), { minItems: 1 }),
        approversList: Type.Optional(Type.Array(Text)),
        requiredApprovals: Type.Optional(Positive),
      },
      open,
    ),
  },
  "approval.received": {
    tier: "updates",
    summary: "A plain approval was decided.",
    payload: Type.Object(
      {
        nodeId: Name,
        action: Type.Enum(["accept", "reject", "refine", "edit-accept", "timeout"]),
        decidedBy: Type.Optional(Name),
        decidedAt: Name,
        comment: Type.Optional(Text),
        feedback: Type.Optional(Text),
        refineFeedback: Type.Optional(JsonObject),
        editedArtifactData: Type.Optional(Type.Unknown()),
      },
      open,
    ),
  },
  "approval.granted": {
    tier: "debug",
    summary: "An authorised principal granted a governed gate.",
    payload: Type.Object(
      {
        gateId: Name,
        principal: Name,
        quorumProgress: Type.Optional(Type.Object({ granted: Count, required: Positive }, closed)),
      },
      closed,
    ),
  },
  "approval.rejected": {
    tier: "debug",
    summary: "An authorised principal rejected a governed gate.",
    payload: Type.Object({ gateId: Name, principal: Name, reason: Type.Optional(Text) }, closed),
  },
  "approval.overridden": {
    tier: "debug",
    summary: "A principal took the override path of a governed gate.",
    payload: Type.Object({ gateId: Name, principal: Name, reason: Name }, closed),
  },
  "clarification.requested": {
    tier: "updates",
    summary: "The older twin of interrupt.requested, for clarifications.",
    payload: Type.Object(
      {
        nodeId: Name,
        interruptId: Name,
        questions: Type.Array(Type.Object({ id: Name, question: Name, schema: Type.Optional(JsonObject) }, closed)),
      },
      open,
    ),
  },
  "clarification.resolved": {
    tier: "updates",
    summary: "The questions were answered.",
    payload: Type.Object({ nodeId: Name, answers: JsonObject, answeredBy: Type.Optional(Name) }, open),
  },
  "authorization.decided": {
    tier: "debug",
    summary: "A principal was refused an action on this run.",
    payload: Type.Object(
      { principal: Name, action: Name, resource: Name, allowed: Type.Boolean(), reason: Type.Optional(Text) },
      closed,
    ),
  },
  "node.suspended": {
    tier: "updates",
    summary: "The node waits for its interrupt.",
    payload: Type.Object({ nodeId: Name, interruptId: Name, kind: Kind, key: Name, reason: Type.Optional(Text) }, open),
  },
  "node.resumed": {
    tier: "updates",
    summary: "The node has its answer and continues.",
    payload: Type.Object(
      { nodeId: Name, interruptId: Type.Optional(Name), resumeValue: Type.Optional(Type.Unknown()) },
      open,
    ),
  },
  "node.dispatched": {
    tier: "updates",
    summary: "The node started a run of another workflow. The node is named by the event itself.",
    payload: Type.Object({ childRunId: Name, childWorkflowId: Name, childStatus: Type.Optional(Name) }, closed),
  },
  "assay.vote.recorded": {
    tier: "debug",
    changesSnapshot: true,
    summary: "A vote at a gate. A later vote of the same voter replaces it.",
    payload: Type.Object(
      {
        interruptId: Name,
        voter: Name,
        principal: Name,
        principalKind: Type.Enum([...PRINCIPAL_KINDS, "token"]),
        action: Type.Enum([...APPROVAL_ACTIONS]),
        reason: Type.Optional(Text),
        override: Type.Optional(Type.Literal(true)),
        /** The reason why the voter was eligible: names of roles, groups, or the list. */
        eligibleBy: Type.Optional(Type.Array(Text)),
        replaces: Type.Optional(Type.Enum([...APPROVAL_ACTIONS])),
        /** The makers of the voter's key, and their makers, as far as no owner has confirmed it. */
        makers: Type.Optional(Type.Array(Name)),
        /** The relay, where all its votes count as one person. */
        countsAs: Type.Optional(Name),
        relayedPerson: Type.Optional(Type.Literal(true)),
        editedArtifactData: Type.Optional(Type.Unknown()),
        /** Masked: what in the edited artifact is secret. */
        secrets: Type.Optional(Type.Unknown()),
        /** How the evaluation stood that the gate asks for. */
        evidence: Type.Optional(Type.Array(Condition)),
      },
      closed,
    ),
  },
  "assay.starter.added": {
    tier: "debug",
    summary: "One more principal asks for what the run was started for. At a gate they count like its starter.",
    payload: Type.Object({ principal: Name }, closed),
  },
  "assay.gate.asked": {
    tier: "debug",
    changesSnapshot: true,
    summary: "A question or an answer at a gate. The gate stays as it is.",
    payload: Type.Object({ interruptId: Name, by: Name, text: Name }, closed),
  },
  "assay.resume.taken": {
    tier: "debug",
    summary: "A node that touches the outside world was called again with its answer.",
    payload: Type.Object({ nodeId: Name }, closed),
  },
  "assay.child.started": {
    tier: "debug",
    summary: "How the node and the run it dispatched depend on each other.",
    payload: Type.Object(
      {
        nodeId: Name,
        childRunId: Name,
        childWorkflowId: Name,
        waits: Type.Boolean(),
        propagates: Type.Boolean(),
        /** Names of the child's variables that come back when it completes. */
        takes: Type.Array(Name),
      },
      closed,
    ),
  },
  "assay.child.changed": {
    tier: "debug",
    changesSnapshot: true,
    summary: "A dispatched run began to wait, or continues. The run that dispatched it mirrors that.",
    payload: Type.Object({ nodeId: Name, childRunId: Name, status: Type.Enum([...RUN_STATUSES]) }, closed),
  },
  "assay.child.ended": {
    tier: "debug",
    changesSnapshot: true,
    summary: "A dispatched run ended, with what is mapped back from it.",
    payload: Type.Object(
      {
        nodeId: Name,
        childRunId: Name,
        status: Type.Enum(["completed", "failed", "cancelled"]),
        outputs: Type.Optional(JsonObject),
        variables: Type.Optional(JsonObject),
        /** Names among the variables that are masked wherever they go. */
        sensitive: Type.Optional(Type.Array(Name)),
        secrets: Type.Optional(Type.Unknown()),
        error: Type.Optional(ChildError),
      },
      closed,
    ),
  },
} as const;
