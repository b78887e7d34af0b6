import { visibleRun } from "../../engine/execute.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Artifact } from "../../store/port/store.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

/**
 * The bytes a run made, whoever wrote them. A browser must never run them as part of this origin, so they are always
 * a download and their type is never guessed.
 */
export const getArtifactRoute: Handler = async (context) => {
  const { host, params } = context;
  const { runId = "", artifactId = "" } = params;
  const caller = callerOf(context);
  await visibleRun(host, caller, runId);
  const artifact = await host.store.readArtifact(caller, runId, artifactId);
  if (!artifact) throw new AppError("not_found", { what: "artifact", runId, artifactId });
  return downloaded(artifact);
};

export function downloaded({ body, contentType }: Pick<Artifact, "body" | "contentType">): Reply {
  return {
    status: 200,
    raw: body,
    contentType: safeType(contentType),
    headers: { "content-disposition": "attachment", "content-security-policy": "sandbox; default-src 'none'" },
  };
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:\s*;\s*[a-z0-9-]+="?[\w.+-]+"?)*$/i;

/** A header is no place for whatever a node called its type. */
function safeType(contentType: string): string {
  return contentType.length <= 256 && MEDIA_TYPE.test(contentType) ? contentType : "application/octet-stream";
}
