import type { Refusal, Unit } from "../port/store.ts";
import type { StoredSidecar, TapeWrite } from "../port/tapes.ts";
import { sidecarRow, tapeRow } from "../rows/tape-rows.ts";
import { change } from "./standing.ts";
import type { StandingRows } from "./standing-rows.ts";
import { digestKey, type StandingTapes } from "./standing-tapes.ts";

/** Whether a tape is new, and a sidecar as the unit takes it to be. */
export function checkTapes({ tenant, tapes = [] }: Unit, standing: StandingRows): Refusal | undefined {
  for (const write of tapes) {
    const refusal =
      write.type === "import" ? checkImport(write, standing) : checkSidecar(tenant, write.sidecar, standing);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

type Import = Extract<TapeWrite, { type: "import" }>;

function checkImport({ tape }: Import, { tapes }: StandingTapes): Refusal | undefined {
  const found = tapes.get(digestKey(tape.tenant, tape.workspace, tape.digest));
  return found && { type: "tape", runId: found.row.run_id };
}

function checkSidecar(
  tenant: string,
  { runId, revision }: StoredSidecar,
  { runs, sidecars }: StandingRows,
): Refusal | undefined {
  if (runs.get(runId)?.row.tenant !== tenant) return { type: "version", runId, version: 0 };
  return (sidecars.get(runId)?.row.revision ?? 0) === revision - 1 ? undefined : { type: "tape", runId };
}

export function applyTapes(writes: readonly TapeWrite[], { tapes, sidecars }: StandingTapes): void {
  for (const write of writes) {
    if (write.type === "import") {
      const written = tapeRow(write.tape);
      const { run_id, tenant, workspace, digest } = written;
      change(tapes, digestKey(tenant, workspace, digest), { run_id, written });
    } else {
      const written = sidecarRow(write.tenant, write.sidecar);
      change(sidecars, written.run_id, { revision: written.revision, written });
    }
  }
}
