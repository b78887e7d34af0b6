import type { AnnotationRecord } from "../../store/judgments.ts";

type Author = Pick<AnnotationRecord, "actor" | "actorKind" | "importedBy">;

/**
 * Judgments made on this host, under the key of their author. `importedBy` is stored with every judgment that was brought in a file, in
 * whatever name, so its absence means that the author was authenticated here.
 */
export function isMadeHere({ importedBy }: Pick<AnnotationRecord, "importedBy">): boolean {
  return importedBy === undefined;
}

/**
 * Whether a judgment may replace an earlier one: only one of the same author. An imported judgment replaces imported ones only, because
 * its author is a claim of the importer; and a person's only as a person's, or an agent could speak over people by taking their names.
 */
export function mayReplace(judgment: Author, earlier: Author): boolean {
  if (judgment.actor !== earlier.actor) return false;
  if (isMadeHere(judgment)) return true;
  return !isMadeHere(earlier) && (judgment.actorKind === "person" || earlier.actorKind !== "person");
}
