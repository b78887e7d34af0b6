import { closed, type Static, Type } from "../schema.ts";
import { EvalTask, SuiteId, TASK_ID_PATTERN } from "./eval-suite.ts";

const Name = Type.String({ minLength: 1, maxLength: 256 });
const At = Type.String({ description: "ISO 8601" });
const Score = Type.Number({ minimum: 0, maximum: 1 });

/** A task of a suite, and the run that it was made of. */
export const TaskLink = Type.Object(
  {
    suiteId: SuiteId,
    version: Type.String({ description: "the first version of the suite that has the task" }),
    taskId: Type.String(),
    taskSha256: Type.String({ description: "of the canonical JSON of the task" }),
    runId: Type.String(),
    annotationId: Type.String({ description: "the correction that it expects" }),
    nodeId: Type.Optional(Type.String()),
    eventId: Type.Optional(Type.String({ description: "the event that was corrected, where it was one" })),
    by: Type.String(),
    at: At,
  },
  closed,
);
export type TaskLink = Static<typeof TaskLink>;

export const TaskLinkQuery = Type.Object(
  {
    runId: Type.Optional(Name),
    suiteId: Type.Optional(SuiteId),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  closed,
);
export type TaskLinkQuery = Static<typeof TaskLinkQuery>;

export const TaskLinkPage = Type.Object(
  { links: Type.Array(TaskLink), nextCursor: Type.Optional(Type.String()) },
  closed,
);
export type TaskLinkPage = Static<typeof TaskLinkPage>;

export const AddFromRequest = Type.Object(
  {
    runId: Name,
    annotationId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "which correction, where there are several" }),
    ),
    taskId: Type.Optional(Type.String({ pattern: TASK_ID_PATTERN, maxLength: 256 })),
    suite: Type.Optional(
      Type.String({ minLength: 1, maxLength: 400, description: "a suite that is kept here: its id, or id@version" }),
    ),
    suiteText: Type.Optional(Type.String({ description: "a suite that is kept elsewhere, as it is written there" })),
    newSuiteId: Type.Optional(SuiteId),
    check: Type.Optional(Type.Boolean({ description: "only say what would come of it" })),
  },
  closed,
);
export type AddFromRequest = Static<typeof AddFromRequest>;

const Proof = Type.Object(
  {
    score: Score,
    passed: Type.Boolean(),
    findings: Type.Array(Type.Object({ kind: Type.String(), severity: Type.String() }, closed)),
    difference: Type.Optional(
      Type.Array(Type.String(), { description: "how the answer differs from what is expected" }),
    ),
  },
  closed,
);
export type Proof = Static<typeof Proof>;

/** A new task, what shows that it tells right from wrong, and the version of the suite that has it. */
export const AddedTask = Type.Object(
  {
    task: EvalTask,
    proof: Type.Object({ recorded: Proof, correction: Proof }, closed),
    suiteId: SuiteId,
    version: Type.String(),
    sha256: Type.String(),
    taskCount: Type.Integer({ minimum: 1 }),
    kept: Type.Boolean({
      description: "whether this host keeps the new version; else its text has to be kept elsewhere",
    }),
    text: Type.String({ description: "the new version of the suite" }),
    link: Type.Union([TaskLink, Type.Null()], { description: "null where it was only checked" }),
    notes: Type.Array(Type.String(), { description: "notes for users of the task" }),
  },
  closed,
);
export type AddedTask = Static<typeof AddedTask>;
