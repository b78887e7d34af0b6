import { Count, closed, Name, nullable, Positive, type Static, Type } from "../schema.ts";

/** How often a model is asked for a value of a given shape before that is given up. */
export const ENVELOPE_ATTEMPTS = 3;
/** The factor by which the token limit grows after a truncated answer. */
export const TRUNCATION_BUDGET_MULTIPLIER = 2;

const Flaw = Type.Enum(["schema-violation", "truncation", "parse-error"]);
export type EnvelopeFlaw = Static<typeof Flaw>;

/** Failures of structured output. Their payloads carry none of the model's text. Part of the catalogue in `events.ts`. */
export const ENVELOPE_EVENTS = {
  "envelope.retry.attempted": {
    tier: "debug",
    summary: "A model is asked again for a value of the right shape; the attempt is the one that begins.",
    payload: Type.Object({ nodeId: Name, attempt: Type.Integer({ minimum: 2, maximum: 16 }), reason: Flaw }, closed),
  },
  "envelope.retry.exhausted": {
    tier: "debug",
    summary: "A model never gave a value of the right shape; its node fails next.",
    payload: Type.Object({ nodeId: Name, totalAttempts: Positive, finalReason: Flaw }, closed),
  },
  "envelope.refusal": {
    tier: "debug",
    summary:
      "A model, or its provider, declined; it is not asked again. Its text is left out: it may quote the prompt.",
    payload: Type.Object({ nodeId: Name, provider: Name, model: Name, refusalText: Type.Null() }, closed),
  },
  "envelope.truncated": {
    tier: "debug",
    summary: "A model was cut off at the most tokens it may use.",
    payload: Type.Object(
      {
        nodeId: Name,
        provider: Name,
        model: Name,
        stopReason: Type.Literal("max_tokens"),
        partialPayloadAvailable: Type.Literal(false),
        outputTokenCount: nullable(Count),
      },
      closed,
    ),
  },
  "envelope.nlToFormat.engaged": {
    tier: "debug",
    summary: "A model answered in prose however often it was asked; it is asked once more, for the form alone.",
    payload: Type.Object({ nodeId: Name, originalEnvelopeType: Name, fallbackCalls: Type.Literal(1) }, closed),
  },
  "envelope.recovery.applied": {
    tier: "debug",
    summary: "The value was in a Markdown fence, and was taken out of it.",
    payload: Type.Object({ nodeId: Name, path: Type.Literal("markdown-fence") }, closed),
  },
} as const;
