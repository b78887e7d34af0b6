import { Count, closed, Type } from "../schema.ts";

/** The Agent Feedback Protocol as schemas; docs/formats/afp.md is the page about it. */

export const AFP_VERSION = "1.2";
export const AFP_DECISIONS = ["accepted", "rejected", "partial"] as const;
export const AFP_CONFIDENCE_LEVELS = ["high", "medium", "low"] as const;
export const AFP_ERROR_CODES = ["INVALID_REQUEST", "UNSUPPORTED_MEDIA_TYPE", "INTERNAL_ERROR"] as const;
export const AFP_PROCESSING_STATUSES = ["acknowledged", "unknown_id"] as const;
export const AFP_REMARK_ID_PATTERN = "^[a-z0-9._-]{8,128}$";

/** Names of members that no payload may have: sessions are named by the transport. Compared without case and separators. */
export const AFP_SESSION_NAMES = ["session", "sessionid", "sessid", "sessiontoken", "sessionkey"] as const;

const SEPARATORS = "[-_.\\s]*";

/** A name like one of these, however it is spelled; `x-` before it does not help. */
const SESSION_LIKE_PATTERN = `^(?:[xX]-)?${SEPARATORS}(?:${AFP_SESSION_NAMES.map(spellings).join("|")})$`;

function spellings(word: string): string {
  return [...word].map((letter) => `[${letter}${letter.toUpperCase()}]${SEPARATORS}`).join("");
}

const withoutSession = { propertyNames: { not: { pattern: SESSION_LIKE_PATTERN } } } as const;

/** Members that are not known are ignored with a warning, so a request is open. */
const open = { ...withoutSession, additionalProperties: true } as const;

/** A provider adds only members that begin with `x-`. */
const extensible = { ...withoutSession, patternProperties: { "^x-": {} }, additionalProperties: false } as const;

const Text = Type.String();
const Iteration = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

const Artifact = Type.Object(
  {
    media_type: Type.String({
      pattern: "^\\s*[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+\\s*(?:;[\\s\\S]*)?$",
      description: "type/subtype; parameters are ignored",
    }),
    content: Type.Unknown({ description: "the work itself: any JSON value, also an empty one" }),
    artifact_ref: Type.Optional(Type.String({ description: "a mark of its version: a hash, a commit" })),
  },
  { ...open, description: "what is to be reviewed" },
);

const Decision = Type.Object(
  {
    id: Type.String({ description: "of the remark, as the provider wrote it" }),
    status: Type.Enum([...AFP_DECISIONS]),
    reason_code: Type.Optional(Type.String({ description: "a short reason for programs, such as out_of_scope" })),
    explanation: Type.Optional(Type.String({ description: "the reason for people" })),
  },
  open,
);

export const AfpRequest = Type.Object(
  {
    protocol_version: Type.Literal(AFP_VERSION),
    iteration: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "the turn: 1 for the first request, one more each time",
    }),
    artifact: Artifact,
    applied_feedback: Type.Optional(
      Type.Object({ items: Type.Array(Decision) }, { ...open, description: "decisions on earlier remarks" }),
    ),
  },
  open,
);

const Feedback = Type.Object(
  {
    confidence: Type.Object({ level: Type.Enum([...AFP_CONFIDENCE_LEVELS]), justification: Text }, extensible),
    positive_points: Type.Array(Type.Object({ aspect: Text, justification: Text }, extensible), {
      description: "worth keeping, and why",
    }),
    areas_for_improvement: Type.Array(
      Type.Object(
        {
          id: Type.String({
            pattern: AFP_REMARK_ID_PATTERN,
            description: "unique in the answer; the same matter keeps it in later turns",
          }),
          aspect: Text,
          description: Type.String({ description: "what is wrong" }),
          recommendation: Type.String({ description: "what to do" }),
        },
        extensible,
      ),
    ),
    general_summary: Text,
  },
  extensible,
);

const ANSWER = {
  protocol_version: Type.Literal(AFP_VERSION),
  iteration: Type.Integer({ ...Iteration, description: "of the request" }),
};

const ACKNOWLEDGEMENT = {
  applied_feedback_ack: Type.Optional(
    Type.Object(
      {
        items: Type.Array(
          Type.Object({ id: Text, processing_status: Type.Enum([...AFP_PROCESSING_STATUSES]) }, extensible),
        ),
      },
      { ...extensible, description: "one entry per decision of the request, in its order" },
    ),
  ),
};

/** A response as a provider has to write it; requesters read more than that. */
export const AfpResponse = Type.Union([
  Type.Object({ ...ANSWER, status: Type.Literal("success"), feedback: Feedback, ...ACKNOWLEDGEMENT }, extensible),
  Type.Object(
    {
      ...ANSWER,
      status: Type.Literal("error"),
      error: Type.Object(
        {
          code: Type.String({ minLength: 1, description: `this provider writes ${AFP_ERROR_CODES.join(", ")}` }),
          message: Type.String({ description: "for people" }),
        },
        extensible,
      ),
      ...ACKNOWLEDGEMENT,
    },
    extensible,
  ),
]);

const SessionId = Type.String({ pattern: "^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$" });
const PART = {
  id: Type.String({ pattern: "^prt_[0-9a-f]{12}[0-9A-Za-z]{14}$" }),
  messageID: Type.String({ pattern: "^msg_[0-9a-f]{12}[0-9A-Za-z]{14}$" }),
  sessionID: SessionId,
};
const MESSAGE = {
  timestamp: Type.Integer({ minimum: 0, description: "Unix milliseconds" }),
  sessionID: SessionId,
};

/** A line of the stream that carries a response. There are three, in this order. */
export const AfpMessage = Type.Union([
  Type.Object(
    {
      type: Type.Literal("step_start"),
      ...MESSAGE,
      part: Type.Object({ ...PART, type: Type.Literal("step-start") }, closed),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal("text"),
      ...MESSAGE,
      part: Type.Object(
        {
          ...PART,
          type: Type.Literal("text"),
          text: Type.String({
            contentMediaType: "application/json",
            contentSchema: AfpResponse,
            description: "the response as JSON text, in one line",
          }),
          time: Type.Object({ start: Count, end: Count }, closed),
        },
        closed,
      ),
    },
    closed,
  ),
  Type.Object(
    {
      type: Type.Literal("step_finish"),
      ...MESSAGE,
      part: Type.Object(
        {
          ...PART,
          type: Type.Literal("step-finish"),
          reason: Type.Literal("stop"),
          tokens: Type.Object(
            {
              total: Count,
              input: Count,
              output: Count,
              reasoning: Count,
              cache: Type.Object({ read: Count, write: Count }, closed),
            },
            closed,
          ),
          cost: Type.Number({ minimum: 0 }),
        },
        closed,
      ),
    },
    closed,
  ),
]);
