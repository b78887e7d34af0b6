import { Cursor, closed, Limit, Positive, pageOf, type Static, Type } from "../schema.ts";
import { EVAL_MODES, SuiteId, SuiteVersion } from "./eval-suite.ts";

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
