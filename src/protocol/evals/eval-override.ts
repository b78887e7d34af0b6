import { ANNOTATION_STATES, CORRECTION_MAX, NOTE_MAX } from "../judgments/annotation.ts";
import { Count, closed, Name, Share, type Static, Timestamp, Type } from "../schema.ts";
import { Estimate } from "./eval-statistics.ts";

const TaskOutcome = Type.Object({ score: Share, passed: Type.Boolean() }, closed);

const WHO = { annotationId: Name, by: Name, at: Timestamp };

/** A person's score of a task in place of the one it was given. */
export const TaskOverride = Type.Object(
  {
    taskId: Name,
    eventId: Type.String({ description: "the eval.scored event that was judged" }),
    original: TaskOutcome,
    overridden: TaskOutcome,
    ...WHO,
    adjudicated: Type.Boolean({ description: "it settled what reviewers of a queue disagreed on" }),
    history: Type.Array(
      Type.Object(
        {
          ...WHO,
          kind: Type.Enum(["label", "rating"]),
          score: Share,
          state: Type.Enum([...ANNOTATION_STATES]),
          adjudicated: Type.Boolean(),
          counts: Type.Boolean({ description: "it is the one that counts" }),
        },
        closed,
      ),
      { description: "every score that people gave the task, newest first, also those that count no more" },
    ),
  },
  closed,
);
export type TaskOverride = Static<typeof TaskOverride>;

/** A task that people dispute without a score of their own. */
export const DisputedTask = Type.Object(
  {
    taskId: Name,
    eventId: Name,
    said: Type.Array(Type.Object({ ...WHO, kind: Type.Enum(["correction", "flag"]) }, closed)),
  },
  closed,
);
export type DisputedTask = Static<typeof DisputedTask>;

/** The result of an evaluation with the scores of people; the original result never changes. */
export const EvalOverride = Type.Object(
  {
    tasks: Type.Array(TaskOverride),
    disputed: Type.Array(DisputedTask),
    imported: Type.Optional(
      Type.Integer({ minimum: 0, description: "live judgments of people that were imported; they change no figure" }),
    ),
    aggregateScore: Share,
    passed: Type.Boolean(),
    unmet: Type.Array(Type.Enum(["score", "cost", "cost_unknown", "latency"])),
    passedCount: Count,
    taskCount: Count,
    score: Estimate,
    passRate: Estimate,
  },
  closed,
);
export type EvalOverride = Static<typeof EvalOverride>;

/** A person's judgment of one task of an evaluation: exactly one of label, rating, correction and flag. */
export const JudgeTaskRequest = Type.Object(
  {
    label: Type.Optional(Type.Enum(["pass", "fail"], { description: "sets its score to 1 or 0" })),
    rating: Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description: "sets its score to (rating - 1) / 4" })),
    correction: Type.Optional(
      Type.String({ maxLength: CORRECTION_MAX, description: "what it should have answered; changes no score" }),
    ),
    flag: Type.Optional(Type.Literal(true, { description: "asks for an inspection; changes no score" })),
    note: Type.Optional(Type.String({ maxLength: NOTE_MAX })),
    supersedes: Type.Optional(Type.String({ description: "an earlier judgment of the caller that this one replaces" })),
  },
  closed,
);
export type JudgeTaskRequest = Static<typeof JudgeTaskRequest>;
