import { EVENTS, type EventType, type StreamTier } from "../../protocol/events.ts";
import { INBOX_EVENTS } from "../../protocol/gates/inbox-api.ts";
import { Annotation } from "../../protocol/judgments/annotation.ts";
import { ANNOTATION_EVENTS } from "../../protocol/judgments/annotation-api.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import { type JsonSchema, reference, referredSchemas, schemaOrReference } from "./named-schemas.ts";

const ADDRESS = "/v1/runs/{runId}/events";

interface Stream {
  readonly channel: string;
  readonly mode: string;
  readonly summary: string;
  readonly messages: readonly string[];
}

/** The event streams as an AsyncAPI 3 document. A pure function of the event catalogue. */
export function asyncApiDocument(version: string): JsonSchema {
  const streams = streamsOf();
  const messages = { ...messagesOf(), ...inboxMessages(), ...annotationMessages() };
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Assay event streams",
      version,
      description:
        "Server-sent events. A frame's `id` is the event's sequence and its `event` the event's type, also with several " +
        "modes (`updates,debug`); a client that reconnects sends the last id as Last-Event-ID. " +
        "Streams of runs need scope `runs:read` and end with the run, or with the key.",
    },
    defaultContentType: "application/json",
    channels: {
      ...Object.fromEntries(streams.map((stream) => [stream.channel, channelOf(stream)])),
      inbox: inboxChannel(),
      annotations: annotationsChannel(),
    },
    operations: Object.fromEntries([
      ...streams.map(({ channel, summary }) => sending(channel, summary)),
      sending("inbox", "The interrupts that wait for the caller's decision."),
      sending("annotations", "Every change of a judgment, on any run."),
    ]),
    components: { messages, schemas: referredSchemas(messages) },
  };
}

function sending(channel: string, summary: string): [string, JsonSchema] {
  const name = `send${channel[0]?.toUpperCase()}${channel.slice(1)}`;
  return [name, { action: "send", channel: { $ref: `#/channels/${channel}` }, summary }];
}

function messagesOf(): Record<string, JsonSchema> {
  return {
    ...Object.fromEntries(eventTypes().map((type) => [type, eventMessage(type)])),
    "state.snapshot": {
      name: "state.snapshot",
      summary: "The run after a change: exactly what GET /v1/runs/{runId} answers.",
      payload: reference("RunSnapshot"),
    },
    batch: {
      name: "batch",
      summary: "With bufferMs: the events of that time in order. The frame's id is the highest sequence.",
      payload: { type: "array", minItems: 1, items: reference("RunEventDoc") },
    },
  };
}

function streamsOf(): Stream[] {
  return [
    {
      channel: "runUpdates",
      mode: "updates",
      summary: "What changes the run. The default.",
      messages: [...typesOf("updates"), RUN_ANNOTATED, "batch"],
    },
    {
      channel: "runValues",
      mode: "values",
      summary: "The whole run after every change; not combined with other modes.",
      messages: ["state.snapshot"],
    },
    {
      channel: "runDebug",
      mode: "debug",
      summary: "Every event of the log.",
      messages: [...eventTypes(), RUN_ANNOTATED, "batch"],
    },
  ];
}

function eventTypes(): EventType[] {
  return Object.keys(EVENTS) as EventType[];
}

function typesOf(tier: StreamTier): EventType[] {
  return eventTypes().filter((type) => EVENTS[type].tier === tier);
}

function channelOf({ mode, summary, messages }: Stream): JsonSchema {
  return {
    address: `${ADDRESS}?streamMode=${mode}`,
    summary,
    parameters: { runId: { description: "The run to follow." } },
    messages: Object.fromEntries(messages.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  };
}

/** An event as it is served, narrowed to its type and payload. */
function eventMessage(type: EventType): JsonSchema {
  const { summary, payload } = EVENTS[type];
  return {
    name: type,
    summary,
    payload: {
      allOf: [
        reference("RunEventDoc"),
        { type: "object", properties: { type: { const: type }, payload: schemaOrReference(payload) } },
      ],
    },
  };
}

/** The live inbox in the document of the event streams. */
export function inboxChannel(): JsonSchema {
  return {
    address: OPERATIONS.streamInbox.path,
    summary:
      "The interrupts that wait for the caller's decision, and every change of them. Needs scope `approvals:respond` and ends with the " +
      "key. Frames have no id: a client that reconnects receives all open interrupts again.",
    messages: Object.fromEntries(
      Object.keys(INBOX_EVENTS).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
  };
}

export function inboxMessages(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(INBOX_EVENTS).map(([name, { summary, data }]) => [
      name,
      { name, summary, payload: schemaOrReference(data) },
    ]),
  );
}

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
        "The frame `run.annotated`: the run was judged while it was followed. No event of the log: it has no id, is " +
        "never in a batch and is not sent again to a client that resumes.",
      payload: schemaOrReference(Annotation),
    },
    ...Object.fromEntries(changes),
  };
}
