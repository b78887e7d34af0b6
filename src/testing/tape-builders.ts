import type { Run } from "../protocol/runs/run.ts";
import type { StoredSidecar, StoredTape, TapeWrite } from "../store/port/tapes.ts";
import { NOW, newId, sha256 } from "./builders.ts";

/** The tape that a run came from. */
export function tapeOf(run: Run, more: Partial<StoredTape> = {}): StoredTape {
  const { tenant, workspace } = run.owner;
  return {
    runId: run.runId,
    tenant,
    ...(workspace === undefined ? {} : { workspace }),
    digest: sha256(newId("run")),
    header: '{"type":"header","version":1,"harn_version":"1","started_at_unix_ms":null,"script_path":null,"argv":[]}',
    records: 3,
    bodies: [],
    importedBy: "pat",
    importedAtMs: NOW,
    ...more,
  };
}

export function sidecarOf(run: Run, revision: number, more: Partial<StoredSidecar> = {}): StoredSidecar {
  return { runId: run.runId, revision, text: `# ${revision}\r\n`, pushedBy: "pat", pushedAtMs: NOW, ...more };
}

export function importing(tape: StoredTape): TapeWrite {
  return { type: "import", tape };
}

export function pushing(run: Run, sidecar: StoredSidecar): TapeWrite {
  return { type: "sidecar", tenant: run.owner.tenant, sidecar };
}
