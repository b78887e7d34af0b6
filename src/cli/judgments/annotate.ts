import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import { connect } from "../client/client.ts";
import type { Call } from "../program/command.ts";
import { type AnnotationRequest, annotationRequest } from "./annotation-request.ts";
import type { ANNOTATE_FLAGS } from "./commands.ts";

export async function annotate({ args, flags, json, config, io }: Call<typeof ANNOTATE_FLAGS>): Promise<undefined> {
  const request = annotationRequest(args[0], flags);
  const { does, body } = request;
  const view = await connect(config).json<AnnotationView>(pathOf(request), { method: "POST", body });
  // The id alone, so that a script can take it: ANN=$(assay annotate RUN --up).
  if (json) io.out(JSON.stringify(view));
  else
    io.out(
      does === "annotate" ? view.annotationId : `${view.annotationId} ${does === "close" ? "closed" : "retracted"}`,
    );
}

function pathOf(request: AnnotationRequest): string {
  if (request.does === "annotate") return `/v1/host/assay/runs/${encodeURIComponent(request.runId)}/annotations`;
  return `/v1/host/assay/annotations/${encodeURIComponent(request.annotationId)}:${request.does}`;
}
