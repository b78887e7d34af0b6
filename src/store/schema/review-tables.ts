/** Conversations about what should change. */
export interface ReviewSessionsTable {
  session_id: string; // primary key
  tenant: string;
  workspace: string | null;
  agent: string;
  created_by: string;
  created_at: number;
  updated_at: number;
  revision: number;
  rounds: number;
  lease_owner: string | null;
  lease_until: number | null;
  /** JSON. */
  memory: string;
}

/** Primary key (session_id, n). Added, never changed. */
export interface ReviewRoundsTable {
  session_id: string;
  n: number;
  tenant: string;
  at: number;
  /** JSON. */
  body: string;
}
