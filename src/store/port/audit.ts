import type { AuditCheckpoint, AuditEntry } from "../../protocol/audit/audit.ts";

/** One hash chain per tenant. Entries and checkpoints can be added, never changed: the database itself refuses. */
export interface Audit {
  /** In order. Large entries come some at a time: there are no more where none is returned. */
  readAudit(tenant: string, fromSeq: number, toSeq: number, limit: number): Promise<AuditEntry[]>;
  auditHead(tenant: string): Promise<{ readonly seq: number; readonly hash: string } | undefined>;
  /** In order; all that end within the range unless there is a limit. */
  readCheckpoints(tenant: string, fromSeq: number, toSeq: number, limit?: number): Promise<StoredCheckpoint[]>;
  /** Tenants with checkpoints that end after the export cursor of this name. */
  tenantsWithCheckpointsAfter(cursor: string): Promise<string[]>;
  /** Tenants with entries after their last checkpoint, and those with a checkpoint after their last entry, which was put there by hand. */
  auditBacklog(): Promise<AuditBacklog[]>;
  /** Adds a checkpoint after `prevSequence`; false when another process was first. */
  putCheckpoint(tenant: string, checkpoint: StoredCheckpoint): Promise<boolean>;
}

export interface StoredCheckpoint extends AuditCheckpoint {
  readonly prevSequence: number;
  readonly atMs: number;
}

export interface AuditBacklog {
  readonly tenant: string;
  readonly headSeq: number;
  readonly checkpointSeq: number;
  /** When the last checkpoint was made, or 0 when there is none. */
  readonly checkpointAtMs: number;
}
