import { AppError } from "../../protocol/errors.ts";
import type { AnnotateRequest, CloseFlagRequest, RetractRequest } from "../../protocol/judgments/annotation-api.ts";
import { readText } from "../files/arguments.ts";
import type { FlagValues } from "../program/command.ts";
import type { ANNOTATE_FLAGS } from "./commands.ts";

type Given = FlagValues<typeof ANNOTATE_FLAGS>;
type Name = keyof Given;

/** What `annotate` was told to send, and where to. */
export type AnnotationRequest =
  | { readonly does: "annotate"; readonly runId: string; readonly body: AnnotateRequest }
  | { readonly does: "retract"; readonly annotationId: string; readonly body: RetractRequest }
  | { readonly does: "close"; readonly annotationId: string; readonly body: CloseFlagRequest };

const SIGNALS = ["rating", "up", "down", "correction", "label", "flag"] as const satisfies readonly Name[];
const DEEDS: readonly Name[] = [...SIGNALS, "retract", "close"];

export function annotationRequest(runId: string | undefined, given: Given): AnnotationRequest {
  const [deed, another] = DEEDS.filter((name) => given[name] !== undefined && given[name] !== false);
  if (deed === undefined) {
    return refuse("say what you judge: --rating N, --up, --down, --correction TEXT, --label LABEL or --flag");
  }
  if (another !== undefined) return refuse(`--${deed} and --${another} are two things; send one after the other`);
  if (deed === "retract" || deed === "close") return change(deed, runId, given);
  if (runId === undefined) return refuse(`name the run to judge: assay annotate RUN --${deed} …`);
  refuseOthers(given, deed, ["reason"]);
  return { does: "annotate", runId, body: judgment(given) };
}

function change(deed: "retract" | "close", runId: string | undefined, given: Given): AnnotationRequest {
  const annotationId = given[deed] ?? "";
  if (runId !== undefined) return refuse(`--${deed} names the annotation; leave out ${runId}`);
  const [own, others] = deed === "retract" ? (["reason", "note"] as const) : (["note", "reason"] as const);
  refuseOthers(given, deed, [others, "event", "node", "supersedes", "confidence"]);
  const text = given[own];
  if (text === undefined) return refuse(`--${deed} needs --${own} TEXT`);
  return deed === "retract"
    ? { does: "retract", annotationId, body: { reason: text } }
    : { does: "close", annotationId, body: { note: text } };
}

function judgment(given: Given): AnnotateRequest {
  const { event: eventId, node: nodeId, note, supersedes, confidence } = given;
  const target = { ...(eventId === undefined ? {} : { eventId }), ...(nodeId === undefined ? {} : { nodeId }) };
  return {
    ...(Object.keys(target).length === 0 ? {} : { target }),
    signal: signalOf(given),
    ...(note === undefined ? {} : { note }),
    ...(supersedes === undefined ? {} : { supersedes }),
    ...(confidence === undefined ? {} : { confidence: share(confidence) }),
  };
}

/** Thumbs are the ends of the scale, so that they count like any other rating. */
function signalOf({ rating, up, down, correction, label }: Given): AnnotateRequest["signal"] {
  if (up) return { kind: "rating", rating: 5 };
  if (down) return { kind: "rating", rating: 1 };
  if (rating !== undefined) return { kind: "rating", rating: Number(rating) };
  if (label !== undefined) return { kind: "label", label };
  return correction === undefined ? { kind: "flag" } : { kind: "correction", correction: textArgument(correction) };
}

/** `TEXT`, `@FILE` or `-`, of a correction. */
export function textArgument(argument: string): string {
  if (argument === "-") return withoutLastNewline(readText("-", "standard input"));
  return argument.startsWith("@") ? withoutLastNewline(readText(argument.slice(1), "--correction")) : argument;
}

/** The one that editors and `echo` put there. */
function withoutLastNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function share(text: string): number {
  const value = /^(?:0|1|0?\.\d+|[01]\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  return value >= 0 && value <= 1 ? value : refuse(`--confidence ${text} must be a number from 0 to 1`);
}

function refuseOthers(given: Given, deed: Name, others: readonly Name[]): void {
  const other = others.find((name) => given[name] !== undefined);
  if (other !== undefined) refuse(`--${other} does not go with --${deed}`);
}

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
