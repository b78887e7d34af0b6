import type { AnnotationRecord } from "../../store/judgments.ts";

type Author = Pick<AnnotationRecord, "actor" | "actorKind" | "importedBy">;

/**
 * Whether what somebody said may take the place of what was said before: only of their own. What is brought on another's word
 * replaces no person's judgment unless it is a person's too, or an agent could speak over people by taking their names.
 */
export function mayReplace({ actor, actorKind, importedBy }: Author, earlier: Author): boolean {
  if (actor !== earlier.actor) return false;
  return importedBy === undefined || actorKind === "person" || earlier.actorKind !== "person";
}
