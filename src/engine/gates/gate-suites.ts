import { AppError } from "../../protocol/errors.ts";
import { own } from "../../protocol/own.ts";
import type { RequiredEval } from "../../protocol/promotion/evidence.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import { HOST_WIDE, type Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { GOVERNED_GATE } from "../nodes/gate-config.ts";

const KIND = "gate-suites";

/** SHA-256 of the suite that each gate of a definition asks for, by node. Kept beside the definition, whose own hash stays that of its text. */
type GateSuites = Readonly<Record<string, string>>;

export interface Registered {
  /** The tenant that the definition is registered for, or `HOST_WIDE`. */
  readonly tenant: string;
  readonly definition: Pick<WorkflowDefinition, "nodes">;
  readonly hash: string;
  readonly atMs: number;
}

/**
 * Pins the suites that the gates of a definition name to what they hold at registration. Throws `validation_error` for a suite, mode or
 * task that is not there, and where the definition was pinned to other content before: a pin never moves.
 */
export async function pinGateSuites(
  { store, evidence }: Pick<Host, "store" | "evidence">,
  { tenant, definition, hash, atMs }: Registered,
): Promise<DocumentWrite[]> {
  // A host without evaluations grants nothing at such a gate, so that it has nothing to pin.
  if (evidence === undefined) return [];
  const suites: Record<string, string> = {};
  for (const { id, required } of gatesWithSuite(definition)) {
    const sha256 = await evidence.suiteSha256({ tenant }, required).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== "validation_error") throw error;
      throw refuse(id, `requiredEval: ${String(error.details["problem"] ?? error.message)}`);
    });
    if (required.suiteSha256 !== undefined && required.suiteSha256 !== sha256) {
      throw refuse(id, `requiredEval.suiteSha256 is not that of ${required.suite}, which is ${sha256}`);
    }
    suites[id] = sha256;
  }
  if (Object.keys(suites).length === 0) return [];
  const body = JSON.stringify(suites);
  const standing = await store.readDocument({ tenant, kind: KIND, key: hash });
  if (standing === undefined) {
    return [{ type: "keep", document: { tenant, kind: KIND, key: hash, revision: 1, atMs, body } }];
  }
  const moved = movedGate(JSON.parse(standing.body) as GateSuites, suites);
  if (moved === undefined) return [];
  throw refuse(
    moved,
    "was registered when its suite had other content; give the workflow another version to ask for what the suite has now",
  );
}

function movedGate(before: GateSuites, now: GateSuites): string | undefined {
  return Object.keys(now).find((id) => own(before, id) !== now[id]);
}

function gatesWithSuite({ nodes }: Registered["definition"]) {
  return nodes.flatMap(({ id, typeId, config }) => {
    const required = typeId === GOVERNED_GATE ? (config?.["requiredEval"] as RequiredEval | undefined) : undefined;
    return required?.suite === undefined ? [] : [{ id, required }];
  });
}

/** The content that the gate of a run was registered with; undefined for a definition from before there were pins. */
export async function pinnedSuite(
  store: Pick<Store, "readDocument">,
  { owner, workflowHash }: Pick<Run, "owner" | "workflowHash">,
  nodeId: string,
): Promise<string | undefined> {
  for (const tenant of [owner.tenant, HOST_WIDE]) {
    const found = await store.readDocument({ tenant, kind: KIND, key: workflowHash });
    if (found !== undefined) return own(JSON.parse(found.body) as GateSuites, nodeId);
  }
  return undefined;
}

function refuse(nodeId: string, problem: string): AppError {
  return new AppError("validation_error", { problem: `node "${nodeId}" ${problem}`, nodeId });
}
