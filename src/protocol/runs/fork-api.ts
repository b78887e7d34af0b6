import { RunEventDoc } from "../events.ts";
import { Count, closed, Id, JsonObject, nullable, ShortName, type Static, Type } from "../schema.ts";
import { Configurable } from "./api.ts";
import { FORK_MODES } from "./forked-from.ts";
import { RunStatusSchema } from "./run-status.ts";

/** Run options of a branch; an option that is left out is that of the source. */
export const RunOptionsOverlay = Type.Object(
  {
    inputs: Type.Optional(JsonObject),
    configurable: Type.Optional(Configurable),
    tags: Type.Optional(Type.Array(ShortName, { maxItems: 100 })),
    metadata: Type.Optional(JsonObject),
  },
  closed,
);
export type RunOptionsOverlay = Static<typeof RunOptionsOverlay>;

const FORK = {
  mode: Type.Enum([...FORK_MODES]),
  fromSeq: Type.Optional(Count),
  runOptionsOverlay: Type.Optional(RunOptionsOverlay),
};

export const ForkRunRequest = Type.Object(FORK, closed);
export type ForkRunRequest = Static<typeof ForkRunRequest>;

/** The same, with the annotation of the source that is the reason of the fork. */
export const ForkRunFurtherRequest = Type.Object({ ...FORK, motivatedBy: Type.Optional(Id) }, closed);
export type ForkRunFurtherRequest = Static<typeof ForkRunFurtherRequest>;

export const ForkRunResponse = Type.Object(
  {
    runId: Type.String(),
    sourceRunId: Type.String(),
    fromSeq: Count,
    mode: Type.Enum([...FORK_MODES]),
    status: RunStatusSchema,
    eventsUrl: Type.String(),
  },
  closed,
);
export type ForkRunResponse = Static<typeof ForkRunResponse>;

/** Two sides of what differs; a side that has nothing there is left out. */
export const Sides = Type.Object({ a: Type.Optional(Type.Unknown()), b: Type.Optional(Type.Unknown()) }, closed);
export type Sides = Static<typeof Sides>;

export const StateDiff = Type.Object(
  {
    status: Type.Optional(Sides),
    variables: Type.Optional(Type.Record(Type.String(), Sides)),
    channels: Type.Optional(Type.Record(Type.String(), Sides)),
  },
  closed,
);
export type StateDiff = Static<typeof StateDiff>;

export const EventDiff = Type.Object(
  {
    seq: Count,
    op: Type.Enum(["added", "removed", "changed"]),
    aEvent: Type.Optional(RunEventDoc),
    bEvent: Type.Optional(RunEventDoc),
  },
  closed,
);
export type EventDiff = Static<typeof EventDiff>;

/** How many differences one answer holds at most. */
export const MAX_EVENT_DIFFS = 1000;

export const RunDiffResponse = Type.Object(
  {
    a: Type.String(),
    b: Type.String(),
    divergedAtSeq: nullable(Count),
    eventDiffs: Type.Array(EventDiff),
    stateDiff: StateDiff,
    truncated: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type RunDiffResponse = Static<typeof RunDiffResponse>;
