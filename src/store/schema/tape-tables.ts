/** Where runs came from that were recorded elsewhere. */
export interface TapesTable {
  run_id: string; // primary key
  tenant: string;
  workspace: string | null;
  /** Unique per (tenant, workspace). */
  digest: string;
  name: string | null;
  records: number;
  imported_by: string;
  imported_at: number;
  header: string;
  /** JSON array. */
  bodies: string;
}

/** The sidecar of a run as it was last pushed. */
export interface TapeSidecarsTable {
  run_id: string; // primary key
  tenant: string;
  revision: number;
  pushed_by: string;
  pushed_at: number;
  body: string;
}
