import {
  Cursor,
  closed,
  Limit,
  nullable,
  Positive,
  pageOf,
  Share,
  ShortName,
  type Static,
  Timestamp,
  Type,
} from "../schema.ts";
import { EVAL_MODES, EvalTask, SuiteId, SuiteVersion, TASK_ID_PATTERN } from "./eval-suite.ts";

export const SuiteInfo = Type.Object(
  {
    suiteId: SuiteId,
    version: SuiteVersion,
    sha256: Type.String({ pattern: "^[0-9a-f]{64}$", description: "of the canonical JSON; what evidence is bound to" }),
    taskCount: Positive,
    modes: Type.Array(Type.Enum([...EVAL_MODES])),
    targetAgentId: Type.Optional(Type.String()),
    hostWide: Type.Boolean({ description: "whether it is there for every tenant" }),
    registeredBy: Type.String(),
    registeredAt: Type.String(),
  },
  closed,
);
export type SuiteInfo = Static<typeof SuiteInfo>;

const SuiteWarning = Type.Object(
  {
    code: Type.String(),
    path: Type.String({ description: "JSON Pointer into the suite" }),
    problem: Type.String(),
    line: Type.Optional(Positive),
    column: Type.Optional(Positive),
  },
  closed,
);

export const PutSuiteResponse = Type.Object(
  {
    ...SuiteInfo.properties,
    created: Type.Boolean({ description: "false when the same suite was here already" }),
    warnings: Type.Array(SuiteWarning),
  },
  closed,
);
export type PutSuiteResponse = Static<typeof PutSuiteResponse>;

export const SuiteListQuery = Type.Object(
  {
    suiteId: Type.Optional(SuiteId),
    limit: Limit,
    cursor: Cursor,
  },
  closed,
);
export type SuiteListQuery = Static<typeof SuiteListQuery>;

export const SuitePage = pageOf("suites", SuiteInfo);
export type SuitePage = Static<typeof SuitePage>;

/** Columns of a stored suite other than the author's own text. */
export type SuiteRecord = Omit<SuiteInfo, "hostWide">;

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
    at: Timestamp,
  },
  closed,
);
export type TaskLink = Static<typeof TaskLink>;

export const TaskLinkQuery = Type.Object(
  {
    runId: Type.Optional(ShortName),
    suiteId: Type.Optional(SuiteId),
    limit: Limit,
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  closed,
);
export type TaskLinkQuery = Static<typeof TaskLinkQuery>;

export const TaskLinkPage = pageOf("links", TaskLink);
export type TaskLinkPage = Static<typeof TaskLinkPage>;

export const AddFromRequest = Type.Object(
  {
    runId: ShortName,
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
    score: Share,
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
    taskCount: Positive,
    kept: Type.Boolean({
      description: "whether this host keeps the new version; else its text has to be kept elsewhere",
    }),
    text: Type.String({ description: "the new version of the suite" }),
    link: nullable(TaskLink, { description: "null where it was only checked" }),
    notes: Type.Array(Type.String(), { description: "notes for users of the task" }),
  },
  closed,
);
export type AddedTask = Static<typeof AddedTask>;
