import { jsonText, table, text, time } from "./table.ts";

/** Definitions by content hash, immutable. */
export const workflows = table(
  "workflows",
  { hash: text(), workflow_id: text(), definition: jsonText(), created_at: time().as("atMs") },
  { key: ["hash"] },
);

/** The newest hash of a workflow; tenant "" is host-wide. */
export const workflowHeads = table(
  "workflow_heads",
  { tenant: text(), workflow_id: text(), hash: text(), registered_at: time().as("atMs") },
  { key: ["tenant", "workflow_id"] },
);
