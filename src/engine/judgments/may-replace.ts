import type { AnnotationRecord } from "../../store/port/judgments.ts";

type Author = Pick<AnnotationRecord, "actor" | "actorKind" | "importedBy">;

/** Whether a judgment was made on this host, with the key of its author. All imported judgments have `importedBy`. */
export function isMadeHere({ importedBy }: Pick<AnnotationRecord, "importedBy">): boolean {
  return importedBy === undefined;
}

/**
 * Whether a judgment may replace or retract an earlier one by its kind of author: a person's judgment only as a person's. An agent may have a key in
 * the person's name, and could otherwise retract the person's judgments.
 */
export function mayOverrule({ actorKind }: Pick<Author, "actorKind">, earlier: Pick<Author, "actorKind">): boolean {
  return actorKind === "person" || earlier.actorKind !== "person";
}

/** Whether a judgment may replace an earlier one of the same author. An imported judgment replaces imported ones only, because its author is a claim of the importer. */
export function mayReplace(judgment: Author, earlier: Author): boolean {
  if (judgment.actor !== earlier.actor || !mayOverrule(judgment, earlier)) return false;
  return isMadeHere(judgment) || !isMadeHere(earlier);
}
