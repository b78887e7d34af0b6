import type { TapeWrite } from "../port/tapes.ts";
import { sidecarRow, tapeRow } from "../rows/tape-rows.ts";
import type { TapeCheck, Write } from "./operations.ts";
import { SIDECAR_COLUMNS, TAPE_COLUMNS } from "./tape-statements.ts";

/** The rows of tapes and sidecars, and what they depend on. */
export function flattenTapes(tapes: readonly TapeWrite[] = [], writes: Write[]): TapeCheck[] {
  return tapes.map((write) => {
    if (write.type === "import") {
      const row = tapeRow(write.tape);
      writes.push(["insertTape", TAPE_COLUMNS.map((column) => row[column])]);
      return { type: "import", workspace: row.workspace, digest: row.digest };
    }
    const row = sidecarRow(write.tenant, write.sidecar);
    writes.push(["putSidecar", SIDECAR_COLUMNS.map((column) => row[column])]);
    return { type: "sidecar", runId: row.run_id, revision: row.revision };
  });
}
