import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type {
  AnnotateRequest,
  AnnotationView,
  CloseFlagRequest,
  RetractRequest,
} from "../../protocol/judgments/annotation-api.ts";
import { type Client, connect } from "../client/client.ts";
import { confidence as confidenceOf, textArgument } from "../files/arguments.ts";
import type { Call, FlagValues } from "../program/command.ts";
import type { ANNOTATE_FLAGS } from "./commands.ts";

export async function annotate({ args, flags, json, config, io }: Call<typeof ANNOTATE_FLAGS>): Promise<undefined> {
  const request = annotationRequest(args[0], flags);
  const view = await send(connect(config), request);
  const ended = { annotate: "", close: " closed", retract: " retracted" }[request.does];
  // The id of a new one alone, so that a script can take it: ANN=$(assay annotate RUN --up).
  io.out(json ? JSON.stringify(view) : `${view.annotationId}${ended}`);
}

function send({ judgments }: Client, request: AnnotationRequest): PromiseLike<AnnotationView> {
  if (request.does === "annotate") return judgments.annotate(request.runId, request.body);
  const { annotationId } = request;
  if (request.does === "retract") return judgments.retract(annotationId, request.body);
  return judgments.closeFlag(annotationId, request.body);
}

type Given = FlagValues<typeof ANNOTATE_FLAGS>;
type Name = keyof Given;

type AnnotationRequest =
  | { readonly does: "annotate"; readonly runId: string; readonly body: AnnotateRequest }
  | { readonly does: "retract"; readonly annotationId: string; readonly body: RetractRequest }
  | { readonly does: "close"; readonly annotationId: string; readonly body: CloseFlagRequest };

const SIGNALS = ["rating", "up", "down", "correction", "label", "flag"] as const satisfies readonly Name[];
const ACTIONS: readonly Name[] = [...SIGNALS, "retract", "close"];

export function annotationRequest(runId: string | undefined, given: Given): AnnotationRequest {
  const [action, another] = ACTIONS.filter((name) => given[name] !== undefined && given[name] !== false);
  if (action === undefined) {
    throw unusableInput("say what you judge: --rating N, --up, --down, --correction TEXT, --label LABEL or --flag");
  }
  if (another !== undefined)
    throw unusableInput(`--${action} and --${another} are two things; send one after the other`);
  if (action === "retract" || action === "close") return changeRequest(action, runId, given);
  if (runId === undefined) throw unusableInput(`name the run to judge: assay annotate RUN --${action} …`);
  refuseOthers(given, action, ["reason"]);
  return { does: "annotate", runId, body: judgment(given) };
}

function changeRequest(action: "retract" | "close", runId: string | undefined, given: Given): AnnotationRequest {
  const annotationId = given[action] ?? "";
  if (runId !== undefined) throw unusableInput(`--${action} names the annotation; leave out ${runId}`);
  const [own, other] = action === "retract" ? (["reason", "note"] as const) : (["note", "reason"] as const);
  refuseOthers(given, action, [other, "event", "node", "supersedes", "confidence"]);
  const text = given[own];
  if (text === undefined) throw unusableInput(`--${action} needs --${own} TEXT`);
  return action === "retract"
    ? { does: "retract", annotationId, body: { reason: text } }
    : { does: "close", annotationId, body: { note: text } };
}

function judgment(given: Given): AnnotateRequest {
  const { note, supersedes, confidence } = given;
  const target = defined({ eventId: given.event, nodeId: given.node });
  return defined({
    target: Object.keys(target).length === 0 ? undefined : target,
    signal: signalOf(given),
    note,
    supersedes,
    confidence: confidence === undefined ? undefined : confidenceOf("--confidence", confidence),
  });
}

/** Thumbs are the ends of the scale, so that they count as ratings. */
function signalOf({ rating, up, down, correction, label }: Given): AnnotateRequest["signal"] {
  if (up) return { kind: "rating", rating: 5 };
  if (down) return { kind: "rating", rating: 1 };
  if (rating !== undefined) return { kind: "rating", rating: Number(rating) };
  if (label !== undefined) return { kind: "label", label };
  return correction === undefined
    ? { kind: "flag" }
    : { kind: "correction", correction: textArgument(correction, "--correction") };
}

function refuseOthers(given: Given, action: Name, others: readonly Name[]): void {
  const other = others.find((name) => given[name] !== undefined);
  if (other !== undefined) throw unusableInput(`--${other} does not go with --${action}`);
}
