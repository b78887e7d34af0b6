import type { FlaggedItem } from "../../protocol/gates/inbox-api.ts";
import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import { printable } from "./printable.ts";

/** The author of a judgment, with the kind unless it is a person. */
export function actorText(actor: string, kind: FlaggedItem["actorKind"]): string {
  return printable(kind === "person" ? actor : `${actor} (${kind})`);
}

/** `rating 4`, `label wrong-tone, superseded`: the state only where it is no longer live. */
export function signalText({ signal, state, flag, confidence, importedBy }: AnnotationView): string {
  const parts = [signal.kind === "rating" ? `rating ${signal.rating}` : signal.kind];
  if (signal.kind === "label") parts[0] = `label ${signal.label}`;
  if (confidence !== undefined) parts.push(`sure ${confidence}`);
  if (flag?.status === "closed") parts.push("closed");
  if (importedBy !== undefined) parts.push(`imported by ${importedBy}`);
  if (state !== "live") parts.push(state);
  return printable(parts.join(", "));
}

export function targetText({ target: { runId, eventId, nodeId } }: AnnotationView, withRun: boolean): string {
  const parts = [
    ...(withRun ? [runId] : []),
    ...(nodeId === undefined ? [] : [`node ${nodeId}`]),
    ...(eventId === undefined ? [] : [`event ${eventId}`]),
  ];
  return parts.length === 0 ? "run" : printable(parts.join(" "));
}

/** The texts of a judgment, on one line. */
export function wordsText({ signal, note, flag, retraction }: AnnotationView): string {
  const parts = [
    note,
    signal.kind === "correction" ? `should be: ${signal.correction}` : undefined,
    flag?.note === undefined ? undefined : `closed: ${flag.note}`,
    retraction === undefined ? undefined : `retracted: ${retraction.reason}`,
  ];
  return printable(parts.filter((part) => part !== undefined && part !== "").join(" | "));
}
