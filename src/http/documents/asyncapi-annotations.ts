import { Annotation } from "../../protocol/judgments/annotation.ts";
import { ANNOTATION_EVENTS } from "../../protocol/judgments/annotation-events.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import { type JsonSchema, schemaOrReference } from "./named-schemas.ts";

/** The message that carries a judgment on the streams of its run. */
export const RUN_ANNOTATED = "RunAnnotated";

/** The live judgments in the document of the event streams. */
export function annotationsChannel(): JsonSchema {
  return {
    address: OPERATIONS.streamJudgments.path,
    summary:
      "Every change of a judgment that the caller may see, from now on or after Last-Event-ID; also on runs that have ended. " +
      "A frame's `id` is the annotation's, followed by what happened unless it is new: `ann-….retracted`. Needs scope " +
      "`runs:read` and ends with the key. A stream begins with an `id` alone, to resume from when nothing has come yet.",
    messages: Object.fromEntries(
      Object.keys(ANNOTATION_EVENTS).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
  };
}

export function annotationMessages(): Record<string, JsonSchema> {
  const changes = Object.entries(ANNOTATION_EVENTS).map(([name, { summary, data }]): [string, JsonSchema] => [
    name,
    { name, summary, payload: schemaOrReference(data) },
  ]);
  return {
    [RUN_ANNOTATED]: {
      name: RUN_ANNOTATED,
      title: "run.annotated",
      summary:
        "The frame `run.annotated`: somebody judged the run while it was followed. No event of the log: it has no id, is " +
        "never in a batch and is not sent again to a client that resumes.",
      payload: schemaOrReference(Annotation),
    },
    ...Object.fromEntries(changes),
  };
}
