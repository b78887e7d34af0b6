import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { gateRules } from "../../protocol/gates/gate-rules.ts";
import { type Interrupt, isGoverned } from "../../protocol/gates/interrupt.ts";
import { type Visibility, visibilityOf } from "../../protocol/identity/identity.ts";
import { own } from "../../protocol/own.ts";
import type { Evidence, NamedEvidence, RequiredEval } from "../../protocol/promotion/evidence.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import type { DocumentWrite } from "../../store/port/documents.ts";
import { HOST_WIDE, type Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { GOVERNED_GATE } from "../nodes/gate-config.ts";

/** Reads evaluations for gates. An evaluation that cannot be read is a condition that is not met. */
export interface GateEvidence {
  evidenceFor(asked: EvidenceAsked): Promise<Evidence>;
  /** SHA-256 of the suite that a gate names, as it is now. Throws `validation_error` for a suite, mode or task that does not exist. */
  suiteSha256(visible: Visibility, required: RequiredEval): Promise<string>;
}

export interface EvidenceAsked {
  /** The place of the run that has the gate. */
  readonly visible: Visibility;
  readonly required: RequiredEval;
  readonly named: NamedEvidence;
  /** SHA-256 of the suite when the workflow of the gate was registered. */
  readonly pinned?: string;
  /** All principals that started or branched the run. */
  readonly askedBy?: readonly string[];
  /** Whether favourable scores count only from principals that could approve where voters have to be independent. */
  readonly independentPeople?: boolean;
}

/** The evidence that a grant of this interrupt needs; undefined where it needs none, and where no evaluations can be read. */
export async function evidenceFor(
  { evidence, store }: Pick<Host, "evidence" | "store">,
  run: Pick<Run, "owner" | "startedBy" | "starters" | "workflowHash">,
  interrupt: Interrupt | undefined,
): Promise<Evidence | undefined> {
  if (interrupt?.status !== "open" || interrupt.kind !== "approval" || !isGoverned(interrupt)) return undefined;
  const { governed, requireIndependentVoters } = gateRules(interrupt.data);
  const required = governed?.requiredEval;
  if (required === undefined) return undefined;
  const named = (interrupt.data["evidence"] ?? {}) as NamedEvidence;
  const pinned = evidence && (await pinnedSuite(store, run, interrupt.nodeId));
  return evidence?.evidenceFor({
    visible: visibilityOf(run.owner),
    required,
    named,
    ...defined({ pinned }),
    askedBy: startersOf(run),
    independentPeople: requireIndependentVoters,
  });
}

const KIND = "gate-suites";

/** SHA-256 of the suite that each gate of a definition asks for, by node. Stored apart from the definition, whose hash is that of its text. */
type GateSuites = Readonly<Record<string, string>>;

interface Registered {
  /** The tenant that the definition is registered for, or `HOST_WIDE`. */
  readonly tenant: string;
  readonly definition: Pick<WorkflowDefinition, "nodes">;
  readonly hash: string;
  readonly atMs: number;
}

/**
 * Pins the suites that the gates of a definition name to their content at registration. Throws `validation_error` for a suite, mode or
 * task that does not exist, and where the definition was pinned to other content before: a pin never moves.
 */
export async function pinGateSuites(
  { store, evidence }: Pick<Host, "store" | "evidence">,
  { tenant, definition, hash, atMs }: Registered,
): Promise<DocumentWrite[]> {
  // A host without evaluations grants nothing at such a gate, so it has nothing to pin.
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
  const pinned = await store.readDocument({ tenant, kind: KIND, key: hash });
  if (pinned === undefined) {
    return [{ type: "keep", document: { tenant, kind: KIND, key: hash, revision: 1, atMs, body } }];
  }
  const before = JSON.parse(pinned.body) as GateSuites;
  const moved = Object.keys(suites).find((id) => own(before, id) !== suites[id]);
  if (moved === undefined) return [];
  throw refuse(
    moved,
    "was registered when its suite had other content; give the workflow another version to ask for what the suite has now",
  );
}

function gatesWithSuite({ nodes }: Registered["definition"]) {
  return nodes.flatMap(({ id, typeId, config }) => {
    const required = typeId === GOVERNED_GATE ? (config?.["requiredEval"] as RequiredEval | undefined) : undefined;
    return required?.suite === undefined ? [] : [{ id, required }];
  });
}

/** The suite content that the gate of a run was registered with; undefined for a definition that is older than pins. */
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
  return validationError(`node "${nodeId}" ${problem}`, { nodeId });
}
