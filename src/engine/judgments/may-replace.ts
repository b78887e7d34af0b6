import type { AnnotationRecord } from "../../store/port/judgments.ts";

type Author = Pick<AnnotationRecord, "actor" | "actorKind" | "importedBy">;

/**
 * Judgments made on this host, under the key of their author. `importedBy` is stored with every judgment that was brought in a file, in
 * whatever name, so its absence means that the author was authenticated here.
 */
export function isMadeHere({ importedBy }: Pick<AnnotationRecord, "importedBy">): boolean {
  return importedBy === undefined;
}

/**
 * A person's judgment is replaced or withdrawn by people only. An agent may have a key of the person's name, also one that it made
 * itself, and would otherwise take back what the person said.
 */
export function mayOverrule({ actorKind }: Pick<Author, "actorKind">, earlier: Pick<Author, "actorKind">): boolean {
  return actorKind === "person" || earlier.actorKind !== "person";
}

/**
 * Whether a judgment may replace an earlier one: only one of the same author, and a person's only as a person's. An imported judgment
 * replaces imported ones only, because its author is a claim of the importer.
 */
export function mayReplace(judgment: Author, earlier: Author): boolean {
  if (judgment.actor !== earlier.actor || !mayOverrule(judgment, earlier)) return false;
  return isMadeHere(judgment) || !isMadeHere(earlier);
}
