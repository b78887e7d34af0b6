import { Count, closed, JsonObject, Name, nullable, Positive, ShortName, type Static, Type } from "../schema.ts";

/** One line of a tenant's audit chain. Never holds credential material; `details` are ids and scalars. */
export const AuditEntry = Type.Object(
  {
    atSequence: Positive,
    occurredAt: Type.String(),
    actor: Type.String(),
    action: Type.String(),
    target: Type.String(),
    details: JsonObject,
    prevHash: nullable(Type.String()),
  },
  closed,
);
export type AuditEntry = Static<typeof AuditEntry>;

/** An entry as its caller gives it; sequence and hash are assigned at commit. */
export type AuditDraft = Pick<AuditEntry, "occurredAt" | "actor" | "action" | "target" | "details">;

/** The chain of entries that belong to no tenant. */
export const HOST_TENANT = "_host";

export const AuditCheckpoint = Type.Object(
  {
    checkpoint: ShortName,
    atSequence: Count,
    merkleRoot: Name,
    signature: Name,
  },
  closed,
);
export type AuditCheckpoint = Static<typeof AuditCheckpoint>;

export const AuditAnomaly = Type.Object(
  {
    atSeq: Count,
    expectedPrevHash: Name,
    actualPrevHash: Type.String(),
  },
  closed,
);
export type AuditAnomaly = Static<typeof AuditAnomaly>;

export const AuditVerifyResult = Type.Object(
  {
    fromSeq: Count,
    toSeq: Count,
    chainValid: Type.Boolean(),
    checkpointsValid: Type.Boolean(),
    checkpoints: Type.Array(AuditCheckpoint),
    anomalies: Type.Array(AuditAnomaly),
  },
  closed,
);
export type AuditVerifyResult = Static<typeof AuditVerifyResult>;
