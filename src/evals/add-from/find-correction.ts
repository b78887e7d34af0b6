import { isMadeHere } from "../../engine/judgments/may-replace.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AnnotationPlace, AnnotationRecord } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { adjudicatedAmong } from "../override/score-judgments.ts";

type Reads = Pick<Store, "listAnnotations" | "queueItemsById">;

/** A live correction by a person. */
export interface Correction {
  readonly annotationId: string;
  readonly text: string;
  readonly target: AnnotationRecord["target"];
}

export interface CorrectionAsked {
  readonly tenant: string;
  readonly runId: string;
  /** Absent: the one that was adjudicated, else the newest. */
  readonly annotationId?: string | undefined;
  /** Leaves out judgments that a blind queue hides from this reviewer. */
  readonly blindFor?: string | undefined;
}

/** Throws `validation_error` where the run has no correction, or none that fits the request. */
export async function findCorrection(store: Reads, asked: CorrectionAsked): Promise<Correction> {
  const { tenant, runId, annotationId } = asked;
  const found = await correctionsOf(store, asked);
  const byPeople = found.filter(({ actorKind }) => actorKind === "person");
  if (annotationId !== undefined) {
    const named = byPeople.find((one) => one.annotationId === annotationId);
    if (named !== undefined) return correctionIn(named);
    throw refuse(`${annotationId} is no correction of this run that a person made and that still stands`);
  }
  const adjudicated = await adjudicatedAmong(store, tenant, byPeople);
  // The author of an imported correction is a claim of the importer, so those that were made here come first.
  const newestFirst = [...byPeople].reverse().sort((a, b) => Number(isMadeHere(b)) - Number(isMadeHere(a)));
  const chosen = newestFirst.find((one) => adjudicated.has(one.annotationId)) ?? newestFirst[0];
  if (chosen !== undefined) return correctionIn(chosen);
  if (found.length > 0) throw refuse("only agents have corrected this run; a task expects what a person says");
  throw refuse(`this run has no correction; add one: assay annotate ${runId} --correction TEXT`);
}

const PAGE = 500;

async function correctionsOf(store: Reads, { tenant, runId, blindFor }: CorrectionAsked): Promise<AnnotationRecord[]> {
  const found: AnnotationRecord[] = [];
  const blind = blindFor === undefined ? {} : { blindFor };
  const query = { runId, kind: "correction", state: "live", order: "oldest", limit: PAGE, ...blind } as const;
  for (let after: AnnotationPlace | undefined; ; after = found.at(-1)) {
    const page = await store.listAnnotations({ tenant }, { ...query, ...(after && { after }) });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
}

function correctionIn({ annotationId, signal, target }: AnnotationRecord): Correction {
  return { annotationId, text: signal.correction ?? "", target };
}

function refuse(problem: string): AppError {
  return new AppError("validation_error", { problem });
}
