import { closed, JsonObject, Name, open, Share, Type } from "../schema.ts";
import { CONFIDENCE_FLOOR, OrchestratorDecision } from "./orchestrator.ts";

const ErrorObject = Type.Object({ code: Name, message: Name, details: Type.Optional(JsonObject) }, open);

export const CHAIN_EVENT = "core.workflowChain.event";

/** Events of supervisors and of the workers they dispatch. Part of the catalogue in `events.ts`. */
export const ORCHESTRATOR_EVENTS = {
  "runOrchestrator.decided": {
    tier: "updates",
    summary: "A supervisor decided what is next. Once per decision; the supervisor is named by the event itself.",
    payload: Type.Object(
      { agentId: Type.String({ minLength: 3, maxLength: 256 }), decision: OrchestratorDecision },
      closed,
    ),
  },
  [CHAIN_EVENT]: {
    tier: "debug",
    summary: "A step of handing work to a worker, each caused by the one before: begun, started, ended, harvested.",
    payload: Type.Object(
      {
        phase: Type.Enum([
          "dispatch.began",
          "dispatch.succeeded",
          "dispatch.failed",
          "child.completed",
          "child.failed",
          "child.cancelled",
          "output.harvested",
        ]),
        workerId: Name,
        parentRunId: Name,
        childRunId: Type.Optional(Name),
        /** Variables of this run that were set. */
        harvestedKeys: Type.Optional(Type.Array(Name)),
        error: Type.Optional(ErrorObject),
      },
      closed,
    ),
  },
  "core.workflowChain.confidence-escalated": {
    tier: "updates",
    summary: "A decision had too little confidence; it needs a confirmation before anything is done.",
    payload: Type.Object(
      {
        confidence: Share,
        floor: Type.Number({ minimum: CONFIDENCE_FLOOR, maximum: 1 }),
        escalationKind: Type.Enum(["clarify", "escalate"]),
        workerId: Type.Optional(Name),
        parentRunId: Name,
        originalDecision: Type.Optional(OrchestratorDecision),
      },
      closed,
    ),
  },
  "model.capability.insufficient": {
    tier: "updates",
    summary: "A node needs a model that can do more than the one there is; it is refused next.",
    payload: Type.Object(
      {
        nodeId: Name,
        provider: Name,
        model: Name,
        missingCapabilities: Type.Array(Name, { uniqueItems: true }),
        fallbackAttempted: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
  },
} as const;
