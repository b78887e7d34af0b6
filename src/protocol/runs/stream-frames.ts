import { Annotation } from "../judgments/annotation.ts";
import { JsonObject, open, type Static, Type } from "../schema.ts";
import { RunSnapshot } from "./snapshot.ts";

/** A piece of a model's text, as streams show the event `output.chunk`. */
export const MessageChunk = Type.Object(
  {
    nodeId: Type.String(),
    runId: Type.String(),
    chunk: Type.String(),
    isLast: Type.Boolean(),
    meta: Type.Optional(JsonObject),
  },
  open,
);
export type MessageChunk = Static<typeof MessageChunk>;

/** Frames of a run's streams that are not events of its log, by the name of their event. */
export const RUN_FRAMES = {
  "state.snapshot": { data: RunSnapshot },
  "ai.message.chunk": { data: MessageChunk },
  "run.annotated": { data: Annotation },
} as const;
