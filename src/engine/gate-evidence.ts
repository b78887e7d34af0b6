import type { Evidence, NamedEvidence, RequiredEval } from "../protocol/evidence.ts";
import { starterOf } from "../protocol/forked-from.ts";
import { gateRules } from "../protocol/gate-rules.ts";
import type { Owner, Visibility } from "../protocol/identity.ts";
import { type Interrupt, isGoverned } from "../protocol/interrupt.ts";
import type { Run } from "../protocol/run.ts";
import type { Host } from "./host.ts";

/** Reads evaluations for gates. Whatever cannot be read is a condition that is not met. */
export interface GateEvidence {
  evidenceFor(asked: EvidenceAsked): Promise<Evidence>;
}

export interface EvidenceAsked {
  /** Where the run is that has the gate. */
  readonly visible: Visibility;
  readonly required: RequiredEval;
  readonly named: NamedEvidence;
  /** Who started that run. */
  readonly askedBy?: string;
}

/** What a grant of this interrupt would rest on; undefined where it asks for nothing, and where nothing can be looked up. */
export async function evidenceFor(
  { evidence }: Pick<Host, "evidence">,
  run: Pick<Run, "owner" | "startedBy">,
  interrupt: Interrupt | undefined,
): Promise<Evidence | undefined> {
  if (interrupt?.status !== "open" || interrupt.kind !== "approval" || !isGoverned(interrupt)) return undefined;
  const required = gateRules(interrupt.data).governed?.requiredEval;
  if (required === undefined) return undefined;
  const named = (interrupt.data["evidence"] ?? {}) as NamedEvidence;
  const askedBy = starterOf(run);
  const who = askedBy === undefined ? {} : { askedBy };
  return evidence?.evidenceFor({ visible: placeOf(run.owner), required, named, ...who });
}

function placeOf({ tenant, workspace }: Owner): Visibility {
  return { tenant, ...(workspace === undefined ? {} : { workspace }) };
}
