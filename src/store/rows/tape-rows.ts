import type { StoredSidecar, StoredTape } from "../port/tapes.ts";
import type { TapeSidecarsTable, TapesTable } from "../schema/tape-tables.ts";

/** Tapes and sidecars to rows and back. */

export function tapeRow(tape: StoredTape): TapesTable {
  return {
    run_id: tape.runId,
    tenant: tape.tenant,
    workspace: tape.workspace ?? null,
    digest: tape.digest,
    name: tape.name ?? null,
    records: tape.records,
    imported_by: tape.importedBy,
    imported_at: tape.importedAtMs,
    header: tape.header,
    bodies: JSON.stringify(tape.bodies),
  };
}

export function toTape(row: TapesTable): StoredTape {
  return {
    runId: row.run_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    digest: row.digest,
    header: row.header,
    ...(row.name === null ? {} : { name: row.name }),
    records: row.records,
    bodies: JSON.parse(row.bodies) as string[],
    importedBy: row.imported_by,
    importedAtMs: row.imported_at,
  };
}

export function sidecarRow(tenant: string, sidecar: StoredSidecar): TapeSidecarsTable {
  return {
    run_id: sidecar.runId,
    tenant,
    revision: sidecar.revision,
    pushed_by: sidecar.pushedBy,
    pushed_at: sidecar.pushedAtMs,
    body: sidecar.text,
  };
}

export function toSidecar(row: Omit<TapeSidecarsTable, "tenant">): StoredSidecar {
  return {
    runId: row.run_id,
    revision: row.revision,
    text: row.body,
    pushedBy: row.pushed_by,
    pushedAtMs: row.pushed_at,
  };
}
