import { ACTOR_KINDS, ANNOTATION_STATES, Annotation } from "../judgments/annotation.ts";
import { Count, closed, Id, JsonObject, nullable, open, type Static, Type } from "../schema.ts";
import { RunSnapshot } from "./snapshot.ts";

const Text = Type.String();

export const BUNDLE_VERSION = "1.0";

/** Why a bundle does not hold everything. Events are what is given up first and nearly always. */
export const TRUNCATED_REASONS = [
  "events_truncated_to_size_cap",
  "annotations_truncated_to_size_cap",
  "state_omitted_to_size_cap",
] as const;
export type TruncatedReason = (typeof TRUNCATED_REASONS)[number];

export const Span = Type.Object(
  {
    name: Text,
    traceId: Type.String({ pattern: "^[0-9a-f]{32}$" }),
    spanId: Type.String({ pattern: "^[0-9a-f]{16}$" }),
    parentSpanId: Type.Optional(Type.String({ pattern: "^[0-9a-f]{16}$" })),
    kind: Type.Literal("internal"),
    startedAt: Text,
    endedAt: Type.Optional(Text),
    status: Type.Object({ code: Type.Enum(["unset", "ok", "error"]) }, closed),
    attributes: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
  },
  closed,
);
export type Span = Static<typeof Span>;

const BundledRun = Type.Object(
  { ...RunSnapshot.properties, inputs: Type.Optional(JsonObject), endedAt: Type.Optional(Text) },
  open,
);

/** Whether and how an annotation counts in figures. The protocol's object has no place for it. */
export const AnnotationCounting = Type.Object(
  {
    state: Type.Enum([...ANNOTATION_STATES], { description: "only live ones count" }),
    actorKind: Type.Enum([...ACTOR_KINDS], { description: "each kind is counted apart" }),
    supersededBy: Type.Optional(Text),
    muted: Type.Optional(Type.Literal(true, { description: "about an event that a sidecar mutes: not counted" })),
  },
  closed,
);
export type AnnotationCounting = Static<typeof AnnotationCounting>;

/** Everything there is about one run, in one document that can be handed on. Open in 1.x. */
export const DebugBundle = Type.Object(
  {
    bundleVersion: Type.Literal(BUNDLE_VERSION),
    generatedAt: Text,
    host: Type.Object({ name: Text, version: Text, vendor: Type.Optional(Text) }, closed),
    run: BundledRun,
    annotations: Type.Array(Annotation, { description: "everything ever recorded about the run, oldest first" }),
    annotationStates: Type.Optional(
      Type.Record(Type.String(), AnnotationCounting, {
        description: "by annotationId: whether the annotation still counts, which the protocol's object does not say",
      }),
    ),
    events: Type.Array(Type.Object({ sequence: Count, type: Text, timestamp: Text }, open)),
    spans: Type.Array(Span),
    metrics: Type.Object({ openwopCost: nullable(JsonObject), nodeCount: Count, eventCount: Count }, closed),
    redactionApplied: Type.Boolean({ description: "whether anything in here is masked" }),
    redactionMode: Type.Literal("mask"),
    truncated: Type.Optional(Type.Literal(true)),
    truncatedReason: Type.Optional(Type.Enum([...TRUNCATED_REASONS])),
  },
  open,
);
export type DebugBundle = Static<typeof DebugBundle>;

export const ExportBundleRequest = Type.Object({ runId: Id }, open);
export type ExportBundleRequest = Static<typeof ExportBundleRequest>;
