/** Definitions are immutable and kept by content hash; the id points at the newest. */
export interface Workflows {
  /** The tenant's own definition if it registered one under this id, else the host-wide one. */
  readWorkflow(tenant: string, workflowId: string): Promise<StoredWorkflow | undefined>;
  /** The hash of what `readWorkflow` returns. */
  readWorkflowHash(tenant: string, workflowId: string): Promise<string | undefined>;
  readWorkflowByHash(hash: string): Promise<StoredWorkflow | undefined>;
  /** The workflows that the tenant can start, by id; a tenant's own shadows the host-wide one. */
  listWorkflows(tenant: string, after: string, limit: number): Promise<StoredWorkflow[]>;
  /** The same without definitions, which may be large. */
  listWorkflowHeads(tenant: string, after: string, limit: number): Promise<WorkflowHead[]>;
}

/** Host-wide registrations (`--workflows`) belong to no tenant. */
export const HOST_WIDE = "";

export interface WorkflowWrite {
  /** `HOST_WIDE` or the tenant that registers. */
  readonly tenant: string;
  readonly workflowId: string;
  readonly hash: string;
  /** The author's JSON text, returned unchanged. */
  readonly definition: string;
  readonly atMs: number;
}

export interface WorkflowHead {
  readonly workflowId: string;
  readonly hash: string;
}

export interface StoredWorkflow extends WorkflowHead {
  readonly definition: string;
  readonly registeredAtMs: number;
}
