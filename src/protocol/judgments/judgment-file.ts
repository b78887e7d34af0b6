import { Count, closed, Id, Instant, JsonObject, Positive, ShortName, type Static, Type } from "../schema.ts";
import { WORKFLOW_ID_PATTERN } from "../workflows/workflow.ts";
import { AnnotationView } from "./annotation-api.ts";

/** Exports of judgments: JSON lines, a header, one line per judgment, and a last line with their number. */
export const JUDGMENT_FORMAT = "assay-judgments";
export const JUDGMENT_VERSION = 1;

const Text = Type.String({ maxLength: 20_000 });

export const JudgmentHeader = Type.Object(
  {
    type: Type.Literal("header"),
    format: Type.Literal(JUDGMENT_FORMAT),
    version: Type.Literal(JUDGMENT_VERSION),
    filter: Type.Optional(JsonObject),
  },
  closed,
);

export const JudgmentEnd = Type.Object({ type: Type.Literal("end"), count: Count }, closed);

const { runId: _, ...target } = AnnotationView.properties.target.properties;

/** A judgment with its history. Texts from another host have the same limits as those that people write here. */
export const Judgment = Type.Object(
  {
    ...AnnotationView.properties,
    annotationId: Type.String({ pattern: "^ann-[0-9a-hjkmnp-tv-z]{26}$" }),
    target: Type.Object({ runId: Id, ...target }, closed),
    actor: Type.Object({ principalRef: ShortName }, closed),
    createdAt: Instant,
    workflowId: Type.String({ pattern: WORKFLOW_ID_PATTERN, maxLength: 128 }),
    agentId: Type.Optional(ShortName),
    supersedes: Type.Optional(Id),
    supersededBy: Type.Optional(Id),
    supersededAt: Type.Optional(Instant),
    retraction: Type.Optional(Type.Object({ by: ShortName, at: Instant, reason: Text }, closed)),
    flag: Type.Optional(
      Type.Object(
        {
          status: Type.Enum(["open", "closed"]),
          closedBy: Type.Optional(ShortName),
          closedAt: Type.Optional(Instant),
          note: Type.Optional(Text),
        },
        closed,
      ),
    ),
    queueItemId: Type.Optional(Id),
    importedBy: Type.Optional(ShortName),
    tapeRow: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000_000 })),
    muted: Type.Optional(
      Type.Literal(true, {
        description: "about an event that a sidecar mutes: in no figure; worked out again on import",
      }),
    ),
    workspace: Type.Optional(ShortName),
    aboutNode: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "the node of the event that it is about" }),
    ),
  },
  closed,
);
export type Judgment = Static<typeof Judgment>;

/** Any line of an export. */
export const JudgmentLine = Type.Union([
  JudgmentHeader,
  Type.Object({ type: Type.Literal("annotation"), ...Judgment.properties }, closed),
  JudgmentEnd,
]);

export const MAX_IMPORT_LINES = 1001;

export const ImportRequest = Type.Object(
  {
    lines: Type.Array(JsonObject, {
      minItems: 1,
      maxItems: MAX_IMPORT_LINES,
      description: "lines of an export: its header, then some or all of the others",
    }),
    firstLine: Type.Optional(
      Type.Integer({ minimum: 1, description: "where the line after the header is in the file; 2 unless given" }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: "only say what would come of it" })),
  },
  closed,
);
export type ImportRequest = Static<typeof ImportRequest>;

export const ImportResponse = Type.Object(
  {
    imported: Count,
    updated: Count,
    unchanged: Count,
    refused: Type.Array(Type.Object({ line: Positive, problem: Type.String() }, closed)),
  },
  closed,
);
export type ImportResponse = Static<typeof ImportResponse>;
