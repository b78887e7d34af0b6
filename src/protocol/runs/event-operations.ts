import type { ErrorCode } from "../errors.ts";
import { EVENTS } from "../events.ts";
import { type Operation, PROTECTED } from "../operation.ts";
import { open, Type } from "../schema.ts";
import { EventListResponse, PollResponse } from "./api.ts";
import { RUN_FRAMES } from "./stream-frames.ts";

const OF_RUN: readonly ErrorCode[] = ["not_found", "engine_version_mismatch"];

/** What happens in a run, and what it made. */
export const EVENT_OPERATIONS = {
  streamEvents: {
    method: "GET",
    path: "/v1/runs/{runId}/events",
    tag: "events",
    summary: "Follow a run as server-sent events; the backlog first. With Accept: application/json, the log so far.",
    access: "runs:read",
    query: Type.Object(
      {
        streamMode: Type.Optional(Type.String({ maxLength: 128 })),
        bufferMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 5000 })),
      },
      open,
    ),
    success: {
      status: 200,
      schema: EventListResponse,
      contentType: "text/event-stream",
      frames: RUN_FRAMES,
      events: EVENTS,
    },
    errors: [...PROTECTED, ...OF_RUN, "validation_error", "unsupported_stream_mode"],
  },
  pollEvents: {
    method: "GET",
    path: "/v1/runs/{runId}/events/poll",
    tag: "events",
    summary: "Events after a sequence; waits up to timeout seconds when there are none yet.",
    access: "runs:read",
    query: Type.Object(
      {
        lastSequence: Type.Optional(Type.Integer({ minimum: -1 })),
        since: Type.Optional(Type.Integer({ minimum: -1 })),
        timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
      },
      open,
    ),
    success: { status: 200, schema: PollResponse },
    errors: [...PROTECTED, ...OF_RUN, "validation_error"],
  },
  getArtifact: {
    method: "GET",
    path: "/v1/runs/{runId}/artifacts/{artifactId}",
    tag: "artifacts",
    summary: "The content of an artifact a run made.",
    access: "artifacts:read",
    success: { status: 200, contentType: "*/*" },
    errors: [...PROTECTED, ...OF_RUN],
  },
} as const satisfies Record<string, Operation>;
