import { defined } from "../../protocol/defined.ts";
import { gateRules } from "../../protocol/gates/gate-rules.ts";
import { type Interrupt, isGoverned } from "../../protocol/gates/interrupt.ts";
import type { Owner, Visibility } from "../../protocol/identity/identity.ts";
import type { Evidence, NamedEvidence, RequiredEval } from "../../protocol/promotion/evidence.ts";
import { startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Host } from "../host.ts";
import { pinnedSuite } from "./gate-suites.ts";

/** Reads evaluations for gates. Whatever cannot be read is a condition that is not met. */
export interface GateEvidence {
  evidenceFor(asked: EvidenceAsked): Promise<Evidence>;
  /** SHA-256 of the suite that a gate names, as it is now. Throws `validation_error` for a suite, mode or task that is not there. */
  suiteSha256(visible: Visibility, required: RequiredEval): Promise<string>;
}

export interface EvidenceAsked {
  /** Where the run is that has the gate. */
  readonly visible: Visibility;
  readonly required: RequiredEval;
  readonly named: NamedEvidence;
  /** SHA-256 of the suite when the workflow of the gate was registered. */
  readonly pinned?: string;
  /** Everyone behind that run. */
  readonly askedBy?: readonly string[];
  /** Only scores of principals count in favour that may approve where voters have to be independent. */
  readonly independentPeople?: boolean;
}

/** What a grant of this interrupt would rest on; undefined where it asks for nothing, and where nothing can be looked up. */
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
  const content = defined({ pinned });
  return evidence?.evidenceFor({
    visible: placeOf(run.owner),
    required,
    named,
    ...content,
    askedBy: startersOf(run),
    independentPeople: requireIndependentVoters,
  });
}

function placeOf({ tenant, workspace }: Owner): Visibility {
  return defined({ tenant, workspace });
}
