import { type Static, Type } from "../schema.ts";

/** One line of a tenant's audit chain. Never holds credential material; `details` are ids and scalars. */
export const AuditEntry = Type.Object(
  {
    atSequence: Type.Integer({ minimum: 1 }),
    occurredAt: Type.String(),
    actor: Type.String(),
    action: Type.String(),
    target: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown()),
    prevHash: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);
export type AuditEntry = Static<typeof AuditEntry>;

/** What a caller asks to have recorded; sequence and hash are assigned when it is committed. */
export type AuditDraft = Pick<AuditEntry, "occurredAt" | "actor" | "action" | "target" | "details">;

/** The chain of entries that belong to no tenant. */
export const HOST_TENANT = "_host";

export const AuditCheckpoint = Type.Object(
  {
    checkpoint: Type.String({ minLength: 1, maxLength: 256 }),
    atSequence: Type.Integer({ minimum: 0 }),
    merkleRoot: Type.String({ minLength: 1 }),
    signature: Type.String({ minLength: 1 }),
  },
  { additionalProperties: false },
);
export type AuditCheckpoint = Static<typeof AuditCheckpoint>;

export const AuditAnomaly = Type.Object(
  {
    atSeq: Type.Integer({ minimum: 0 }),
    expectedPrevHash: Type.String({ minLength: 1 }),
    actualPrevHash: Type.String(),
  },
  { additionalProperties: false },
);
export type AuditAnomaly = Static<typeof AuditAnomaly>;

export const AuditVerifyResult = Type.Object(
  {
    fromSeq: Type.Integer({ minimum: 0 }),
    toSeq: Type.Integer({ minimum: 0 }),
    chainValid: Type.Boolean(),
    checkpointsValid: Type.Boolean(),
    checkpoints: Type.Array(AuditCheckpoint),
    anomalies: Type.Array(AuditAnomaly),
  },
  { additionalProperties: false },
);
export type AuditVerifyResult = Static<typeof AuditVerifyResult>;
