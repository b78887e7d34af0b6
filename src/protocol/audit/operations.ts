import { type Operation, PROTECTED } from "../operation.ts";
import { closed, Type } from "../schema.ts";
import { AuditCheckpoint, AuditEntry, AuditVerifyResult } from "./audit.ts";

/** The tenant's audit chain. */
export const AUDIT_OPERATIONS = {
  verifyAudit: {
    method: "GET",
    path: "/v1/audit/verify",
    tag: "audit",
    summary: "Walk the tenant's audit chain and check its signed checkpoints.",
    access: "audit:read",
    gate: { capability: "auditLogIntegrity", off: "not_found" },
    query: Type.Object({ fromSeq: Type.Integer({ minimum: 0 }), toSeq: Type.Integer({ minimum: 0 }) }, closed),
    success: { status: 200, schema: AuditVerifyResult },
    errors: [...PROTECTED, "validation_error", "not_found", "audit_anchor_unusable"],
  },
  listAuditEntries: {
    method: "GET",
    path: "/v1/host/assay/audit/entries",
    tag: "audit",
    summary: "The tenant's audit entries and checkpoints, in order, for keeping a copy elsewhere.",
    access: "audit:read",
    gate: { capability: "auditLogIntegrity", off: "not_found" },
    query: Type.Object(
      {
        fromSeq: Type.Optional(Type.Integer({ minimum: 1 })),
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
    errors: [...PROTECTED, "validation_error"],
  },
} as const satisfies Record<string, Operation>;
