import { closed, Id, Name, type Static, Type } from "../schema.ts";

/** An instant as RFC 3339 writes it. */
export const DateTime = Type.String({ format: "date-time" });

export const SIGNAL_KINDS = ["rating", "correction", "label", "flag"] as const;
export type SignalKind = (typeof SIGNAL_KINDS)[number];

export const TARGETS = ["run", "event", "node"] as const;

/** Long enough for any text a person writes, and for a model's answer put right. */
export const NOTE_MAX = 20_000;
export const CORRECTION_MAX = 200_000;
const LABEL_MAX = 256;

/** The kinds whose field must be there; a flag needs none. */
const KINDS_WITH_FIELD = ["rating", "correction", "label"] as const satisfies readonly SignalKind[];

/** Other fields may accompany the one that the kind is about; they are kept and ignored. */
export const Signal = Type.Object(
  {
    kind: Type.Enum([...SIGNAL_KINDS]),
    rating: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: "required when kind is rating" })),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: LABEL_MAX, description: "required for a label" })),
    correction: Type.Optional(
      Type.String({ maxLength: CORRECTION_MAX, description: "what it should have been; required for a correction" }),
    ),
  },
  {
    ...closed,
    allOf: KINDS_WITH_FIELD.map((kind) => ({
      if: { properties: { kind: { const: kind } }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: [kind] },
    })),
  },
);
export type Signal = Static<typeof Signal>;

const Note = Type.Optional(Type.String({ maxLength: NOTE_MAX }));

const TARGET = {
  eventId: Type.Optional(Id),
  nodeId: Type.Optional(Id),
};

/** Without either the judgment is about the run as a whole. */
export interface Target {
  readonly eventId?: string;
  readonly nodeId?: string;
}

/** The client's part; the host adds author, time and run. */
export const CREATE_ANNOTATION = {
  target: Type.Optional(Type.Object(TARGET, closed)),
  signal: Signal,
  note: Note,
};
export const CreateAnnotation = Type.Object(CREATE_ANNOTATION, closed);
export type CreateAnnotation = Static<typeof CreateAnnotation>;

export const ANNOTATION = {
  annotationId: Name,
  target: Type.Object({ runId: Name, ...TARGET }, closed),
  signal: Signal,
  actor: Type.Object({ principalRef: Name }, closed),
  note: Note,
  createdAt: DateTime,
};

/** A judgment as the protocol shows it, exactly. */
export const Annotation = Type.Object(ANNOTATION, closed);
export type Annotation = Static<typeof Annotation>;

export const AnnotationList = Type.Object({ annotations: Type.Array(Annotation) }, closed);

/** The kind of reviewer. People and agents are never counted together; `code` is a check that ran by itself. */
export const ACTOR_KINDS = ["person", "agent", "code"] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

/** Judgments are never removed: one that was replaced or withdrawn stays, and no longer counts. */
export const ANNOTATION_STATES = ["live", "superseded", "retracted"] as const;
export type AnnotationState = (typeof ANNOTATION_STATES)[number];

/** The problem of a signal beyond its shape: the field that its kind requires is missing. */
export function missingField(signal: Signal): string | undefined {
  const { kind } = signal;
  return kind === "flag" || signal[kind] !== undefined ? undefined : kind;
}
