import { operations } from "../operation.ts";
import { Count, closed, Positive, Type } from "../schema.ts";
import { AuditCheckpoint, AuditEntry, AuditVerifyResult } from "./audit.ts";

const common = { tag: "audit", capability: "auditLogIntegrity", access: "audit:read" } as const;

/** The tenant's audit chain. */
export const AUDIT_OPERATIONS = operations(common, {
  verifyAudit: {
    method: "GET",
    path: "/v1/audit/verify",
    summary: "Walk the tenant's audit chain and check its signed checkpoints.",
    query: Type.Object({ fromSeq: Count, toSeq: Count }, closed),
    success: { status: 200, schema: AuditVerifyResult },
    errors: ["audit_anchor_unusable"],
  },
  listAuditEntries: {
    method: "GET",
    path: "/v1/host/assay/audit/entries",
    summary: "The tenant's audit entries and checkpoints, in order, for keeping a copy elsewhere.",
    query: Type.Object(
      {
        fromSeq: Type.Optional(Positive),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      },
      closed,
    ),
    success: {
      status: 200,
      schema: Type.Object(
        {
          entries: Type.Array(AuditEntry),
          checkpoints: Type.Array(AuditCheckpoint),
          publicKey: Type.String(),
          earlierPublicKeys: Type.Optional(
            Type.Array(Type.String(), { description: "keys that signed before this one, newest first" }),
          ),
          nextSeq: Type.Optional(Type.Integer()),
        },
        closed,
      ),
    },
  },
});
