import type { TapeSidecarsTable, TapesTable } from "../schema/tape-tables.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { byKey, type Question, type RowsOf, type Standing, transpose } from "./standing.ts";

/** Of tapes: what the units of a batch depend on, as `StandingRows` is of the rest. */
export interface StandingTapes {
  /** The run that has a digest, by `digestKey`. */
  readonly tapes: Map<string, Standing<StandingTape>>;
  /** By run. */
  readonly sidecars: Map<string, Standing<StandingSidecar>>;
}

export interface StandingTape {
  readonly run_id: string;
  /** All of it, once a unit has written the tape. */
  readonly written?: TapesTable;
}

export interface StandingSidecar {
  readonly revision: number;
  readonly written?: TapeSidecarsTable;
}

export function digestKey(tenant: string, workspace: string | null | undefined, digest: string): string {
  return JSON.stringify([tenant, workspace ?? "", digest]);
}

// Not locked: a tape that comes first in another process makes ours fail at the unique index and look again.
const READ_TAPES = `select tapes.run_id, given.tenant, given.workspace, given.digest
  from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, workspace, digest)
  join tapes on tapes.tenant = given.tenant and tapes.digest = given.digest
    and coalesce(tapes.workspace, '') = given.workspace`;

// Whoever writes a sidecar has locked its run.
const READ_SIDECARS = "select run_id, revision from tape_sidecars where run_id = any($1)";

export function tapeQuestions(batch: readonly PreparedUnit[]): Question[] {
  const digests = new Map<string, readonly string[]>();
  const runIds = new Set<string>();
  for (const write of batch.flatMap(({ unit }) => unit.tapes ?? [])) {
    if (write.type === "sidecar") {
      runIds.add(write.sidecar.runId);
    } else {
      const { tenant, workspace = "", digest } = write.tape;
      digests.set(digestKey(tenant, workspace, digest), [tenant, workspace, digest]);
    }
  }
  return [
    { name: "read tapes", text: READ_TAPES, values: transpose(3, digests) },
    { name: "read sidecars", text: READ_SIDECARS, values: [[...runIds]] },
  ];
}

export function standingTapes(rowsOf: RowsOf): StandingTapes {
  return {
    tapes: byKey(rowsOf("read tapes"), ({ tenant, workspace, digest, run_id }) => [
      digestKey(tenant, workspace, digest),
      { run_id } as StandingTape,
    ]),
    sidecars: byKey(rowsOf("read sidecars"), ({ run_id, revision }) => [run_id, { revision } as StandingSidecar]),
  };
}
