import { Cursor, closed, Id, Limit, pageOf, Share, ShortName, type Static, Type } from "../schema.ts";
import { ACTOR_KINDS, ANNOTATION, ANNOTATION_STATES, CREATE_ANNOTATION, DateTime, SIGNAL_KINDS } from "./annotation.ts";

const Text = Type.String({ minLength: 1, maxLength: 2000 });

/** The protocol's request with Assay's additions. */
export const AnnotateRequest = Type.Object(
  {
    ...CREATE_ANNOTATION,
    supersedes: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "an earlier annotation of the same actor on the run" }),
    ),
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "agents only" })),
  },
  closed,
);
export type AnnotateRequest = Static<typeof AnnotateRequest>;

/** The protocol's object with Assay's additions. */
export const AnnotationView = Type.Object(
  {
    ...ANNOTATION,
    workflowId: Type.String(),
    agentId: Type.Optional(
      Type.String({ description: "the agent that is judged: named by the run's metadata, or called by the host" }),
    ),
    otherAgents: Type.Optional(
      Type.Array(ShortName, { maxItems: 8, description: "further agents, where several worked" }),
    ),
    actorKind: Type.Enum([...ACTOR_KINDS]),
    confidence: Type.Optional(Share),
    state: Type.Enum([...ANNOTATION_STATES]),
    supersedes: Type.Optional(Type.String()),
    supersededBy: Type.Optional(Type.String()),
    supersededAt: Type.Optional(DateTime),
    retraction: Type.Optional(Type.Object({ by: Type.String(), at: DateTime, reason: Type.String() }, closed)),
    flag: Type.Optional(
      Type.Object(
        {
          status: Type.Enum(["open", "closed"]),
          closedBy: Type.Optional(Type.String()),
          closedAt: Type.Optional(DateTime),
          note: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    queueItemId: Type.Optional(Type.String()),
    importedBy: Type.Optional(Type.String()),
    tapeRow: Type.Optional(Type.String({ description: "the line of a sidecar that it came with" })),
  },
  closed,
);
export type AnnotationView = Static<typeof AnnotationView>;

export const RetractRequest = Type.Object({ reason: Text }, closed);
export type RetractRequest = Static<typeof RetractRequest>;

export const CloseFlagRequest = Type.Object({ note: Text }, closed);
export type CloseFlagRequest = Static<typeof CloseFlagRequest>;

/** Shared by the list, the live stream and the export. */
export const ANNOTATION_FILTERS = {
  runId: Type.Optional(Id),
  workflowId: Type.Optional(Id),
  agentId: Type.Optional(ShortName),
  nodeId: Type.Optional(Id),
  signal: Type.Optional(Type.Enum([...SIGNAL_KINDS])),
  label: Type.Optional(ShortName),
  actor: Type.Optional(ShortName),
  actorKind: Type.Optional(Type.Enum([...ACTOR_KINDS])),
  state: Type.Optional(Type.Enum([...ANNOTATION_STATES])),
  flagged: Type.Optional(Type.Enum(["open", "closed", "true"], { description: "true is the same as open" })),
  ratingMax: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
  from: Type.Optional(Type.String({ minLength: 20, maxLength: 40, description: "an instant, inclusive" })),
  to: Type.Optional(Type.String({ minLength: 20, maxLength: 40, description: "an instant, exclusive" })),
};

export const AnnotationListQuery = Type.Object(
  {
    ...ANNOTATION_FILTERS,
    q: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: "words of the note or correction, each from its beginning",
      }),
    ),
    order: Type.Optional(Type.Enum(["newest", "oldest"])),
    limit: Limit,
    cursor: Cursor,
  },
  closed,
);
export type AnnotationListQuery = Static<typeof AnnotationListQuery>;

export const AnnotationFilter = Type.Object(ANNOTATION_FILTERS, closed);
export type AnnotationFilter = Static<typeof AnnotationFilter>;

export const AnnotationPage = pageOf("annotations", AnnotationView);
export type AnnotationPage = Static<typeof AnnotationPage>;

/** The frames of the live stream of judgments, by the name of their event. Each shows the judgment as it is by then. */
export const ANNOTATION_EVENTS = {
  "annotation.recorded": { summary: "A judgment was recorded, or brought from elsewhere.", data: AnnotationView },
  "annotation.superseded": { summary: "Its author replaced it by another one.", data: AnnotationView },
  "annotation.retracted": { summary: "It was withdrawn.", data: AnnotationView },
  "annotation.closed": { summary: "A flag has been looked into.", data: AnnotationView },
} as const;
export type AnnotationEvent = keyof typeof ANNOTATION_EVENTS;
