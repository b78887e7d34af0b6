import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import { type Client, connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { type AnnotationRequest, annotationRequest } from "./annotation-request.ts";
import type { ANNOTATE_FLAGS } from "./commands.ts";

export async function annotate({ args, flags, json, config, io }: Call<typeof ANNOTATE_FLAGS>): Promise<undefined> {
  const request = annotationRequest(args[0], flags);
  const { does } = request;
  const view = await send(connect(config), request);
  // The id alone, so that a script can take it: ANN=$(assay annotate RUN --up).
  if (json) io.out(JSON.stringify(view));
  else
    io.out(
      does === "annotate" ? view.annotationId : `${view.annotationId} ${does === "close" ? "closed" : "retracted"}`,
    );
}

function send({ judgments }: Client, request: AnnotationRequest): PromiseLike<AnnotationView> {
  if (request.does === "annotate") return judgments.annotate(request.runId, request.body);
  const { annotationId } = request;
  if (request.does === "retract") return judgments.retract(annotationId, request.body);
  return judgments.closeFlag(annotationId, request.body);
}
