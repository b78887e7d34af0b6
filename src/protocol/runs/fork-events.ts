import { Count, closed, JsonObject, Name, Positive, Type } from "../schema.ts";

const EntryChanges = Type.Object({ set: JsonObject, removed: Type.Array(Type.String()) }, closed);

export const DIVERGENCE_KINDS = ["output", "missing", "extra", "type-mismatch"] as const;
export type DivergenceKind = (typeof DIVERGENCE_KINDS)[number];

/** Events of forks. Part of the catalogue in `events.ts`. */
export const FORK_EVENTS = {
  "assay.branch.began": {
    tier: "debug",
    changesSnapshot: true,
    summary:
      "A branch leaves its copied history here: the listed nodes start over, with the run options that are named. A branch whose gates ask again goes back to the state before the first of them.",
    payload: Type.Object(
      {
        nodeIds: Type.Array(Name),
        /** The gates among them that were decided before the fork point, and ask again. */
        reopens: Type.Optional(Type.Array(Name)),
        /** Options with another value than before, as `inputs.NAME` or `configurable.NAME`. */
        changes: Type.Optional(Type.Array(Name)),
        /** The nodes that had begun and not ended, or were about to begin: they begin whatever the conditions before them say. */
        enters: Type.Optional(Type.Array(Name)),
        /** The nodes that were about to be skipped. */
        skips: Type.Optional(Type.Array(Name)),
        /** The sequence that the branch goes back to: its state is the one before this event. */
        goesBackTo: Type.Optional(Positive),
        /** What was different in that state. */
        restores: Type.Optional(
          Type.Object(
            {
              variables: Type.Optional(EntryChanges),
              nodes: Type.Optional(EntryChanges),
              channels: Type.Optional(EntryChanges),
              loops: Type.Optional(EntryChanges),
              pins: Type.Optional(EntryChanges),
              children: Type.Optional(EntryChanges),
              members: Type.Optional(EntryChanges),
            },
            closed,
          ),
        ),
        /** The interrupts since then whose answers do not count. */
        voids: Type.Optional(Type.Array(Name)),
        /** Those whose decision holds where the gate shows the same under this key. */
        holds: Type.Optional(Type.Array(Type.Object({ interruptId: Name, key: Name }, closed))),
        /** New values of variables. */
        inputs: Type.Optional(JsonObject),
        configurable: Type.Optional(JsonObject),
        tags: Type.Optional(Type.Array(Type.String())),
        metadata: Type.Optional(JsonObject),
        /** Inputs that are masked by their name. */
        sensitiveInputs: Type.Optional(Type.Array(Type.String())),
        secrets: Type.Optional(Type.Unknown()),
        limits: Type.Optional(
          Type.Object({ nodeExecutions: Positive, runDurationMs: Type.Optional(Positive) }, closed),
        ),
      },
      closed,
    ),
  },
  "replay.diverged": {
    tier: "debug",
    summary: "The replay is no longer what its source was. Only the first difference is recorded.",
    payload: Type.Object(
      {
        sourceRunId: Name,
        atSequence: Count,
        originalEventId: Type.Optional(Name),
        divergenceKind: Type.Enum([...DIVERGENCE_KINDS]),
        /** The type of the event that the replay came to there. */
        divergencePoint: Name,
      },
      closed,
    ),
  },
} as const;
