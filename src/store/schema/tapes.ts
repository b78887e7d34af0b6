import { int, json, type Row, table, text, time } from "./table.ts";

/** Where runs came from that were recorded elsewhere. */
export const tapes = table(
  "tapes",
  {
    run_id: text(),
    tenant: text(),
    workspace: text().orNull,
    /** Unique per (tenant, workspace). */
    digest: text(),
    name: text().orNull,
    records: int(),
    imported_by: text(),
    imported_at: time(),
    header: text(),
    bodies: json<readonly string[]>(),
  },
  { key: ["run_id"] },
);
export type TapesTable = Row<typeof tapes>;

/** The sidecar of a run as it was last pushed. */
export const tapeSidecars = table(
  "tape_sidecars",
  {
    run_id: text(),
    tenant: text(),
    revision: int(),
    pushed_by: text(),
    pushed_at: time(),
    body: text().as("text"),
  },
  { key: ["run_id"], changing: ["revision", "pushed_by", "pushed_at", "body"] },
);
export type TapeSidecarsTable = Row<typeof tapeSidecars>;
