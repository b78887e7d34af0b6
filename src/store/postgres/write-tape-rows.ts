import type { TapeSidecarsTable, TapesTable } from "../schema/tape-tables.ts";
import { sorted } from "./row-order.ts";
import type { Standing } from "./standing.ts";
import type { StandingTapes } from "./standing-tapes.ts";
import { insertInto, type Statement, update } from "./statements.ts";

export function writeTapeRows({ tapes, sidecars }: StandingTapes): Statement[] {
  const fresh = writtenOf<TapesTable>(tapes, () => true);
  return [
    ...insertTapes(sorted(fresh, ({ tenant, workspace, digest }) => [tenant, digest, workspace ?? ""])),
    ...updateSidecars(writtenOf<TapeSidecarsTable>(sidecars, ({ stored }) => stored)),
    ...insertSidecars(
      sorted(
        writtenOf<TapeSidecarsTable>(sidecars, ({ stored }) => !stored),
        ({ run_id }) => [run_id],
      ),
    ),
  ];
}

function writtenOf<T>(
  rows: ReadonlyMap<string, Standing<{ readonly written?: T }>>,
  which: (standing: Standing<unknown>) => boolean,
): T[] {
  return [...rows.values()].filter(which).flatMap(({ row }) => (row.written === undefined ? [] : [row.written]));
}

const insertTapes = insertInto("tapes", {
  run_id: "text",
  tenant: "text",
  workspace: "text",
  digest: "text",
  name: "text",
  records: "integer",
  imported_by: "text",
  imported_at: "bigint",
  header: "text",
  bodies: "text",
} as const);

const CHANGING_IN_A_SIDECAR = {
  run_id: "text",
  revision: "integer",
  pushed_by: "text",
  pushed_at: "bigint",
  body: "text",
} as const;
const updateSidecars = update("tape_sidecars", CHANGING_IN_A_SIDECAR, ["run_id"]);
const insertSidecars = insertInto("tape_sidecars", { ...CHANGING_IN_A_SIDECAR, tenant: "text" } as const);
