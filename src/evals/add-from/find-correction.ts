import { isMadeHere } from "../../engine/judgments/may-replace.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import { adjudicatedAmong, annotationsOf } from "../override/score-judgments.ts";

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
  const { tenant, runId, annotationId, blindFor } = asked;
  const query = { runId, kind: "correction", state: "live", ...defined({ blindFor }) } as const;
  const found = await annotationsOf(store, tenant, query);
  const byPeople = found.filter(({ actorKind }) => actorKind === "person");
  if (annotationId !== undefined) {
    const named = byPeople.find((one) => one.annotationId === annotationId);
    if (named !== undefined) return correctionIn(store, named);
    throw validationError(`${annotationId} is no correction of this run that a person made and that still stands`);
  }
  const adjudicated = await adjudicatedAmong(store, tenant, byPeople);
  // The author of an imported correction is a claim of the importer, so those that were made here come first.
  const newestFirst = [...byPeople].reverse().sort((a, b) => Number(isMadeHere(b)) - Number(isMadeHere(a)));
  const chosen = newestFirst.find((one) => adjudicated.has(one.annotationId)) ?? newestFirst[0];
  if (chosen !== undefined) return correctionIn(store, chosen);
  if (found.length > 0) throw validationError("only agents have corrected this run; a task expects what a person says");
  throw validationError(`this run has no correction; add one: assay annotate ${runId} --correction TEXT`);
}

async function correctionIn(store: Reads, { tenant, annotationId, target }: AnnotationRecord): Promise<Correction> {
  const [whole] = await store.listAnnotations({ tenant }, { annotationId, order: "oldest", limit: 1 });
  return { annotationId, text: whole?.signal.correction ?? "", target };
}
