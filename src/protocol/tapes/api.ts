export { isRecorded, RECORDED_WORKFLOW_ID } from "../words.ts";

import { Count, Cursor, closed, Limit, pageOf, Sha256, ShortName, type Static, Type } from "../schema.ts";
import { MAX_SIDECAR_ROWS } from "../words.ts";

export const ImportTapeRequest = Type.Object(
  {
    tape: Type.String({ description: "the text of the file" }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: "what the file is called" })),
    agentId: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: "the agent whose work it is" })),
  },
  closed,
);
export type ImportTapeRequest = Static<typeof ImportTapeRequest>;

const Bodies = Type.Object(
  {
    referenced: Type.Integer({ minimum: 0, description: "how many bodies outside the tape its records name" }),
    missing: Type.Array(Type.String(), { description: "the names of those that are not here" }),
  },
  closed,
);

export const ImportTapeResponse = Type.Object(
  {
    runId: Type.String(),
    created: Type.Boolean({ description: "false when the same tape was here already" }),
    records: Count,
    digest: Sha256,
    scrubbed: Type.Integer({ minimum: 0, description: "how many texts something was taken out of" }),
    bodies: Bodies,
  },
  closed,
);
export type ImportTapeResponse = Static<typeof ImportTapeResponse>;

export const TapeInfo = Type.Object(
  {
    runId: Type.String(),
    digest: Sha256,
    name: Type.Optional(ShortName),
    records: Count,
    harnVersion: Type.String(),
    scriptPath: Type.Optional(Type.String()),
    importedBy: Type.String(),
    importedAt: Type.String(),
  },
  closed,
);
export type TapeInfo = Static<typeof TapeInfo>;

export const TapeDetails = Type.Object({ ...TapeInfo.properties, bodies: Bodies }, closed);
export type TapeDetails = Static<typeof TapeDetails>;

export const TapeListQuery = Type.Object(
  {
    digest: Type.Optional(Sha256),
    limit: Limit,
    cursor: Cursor,
  },
  closed,
);
export type TapeListQuery = Static<typeof TapeListQuery>;

export const TapePage = pageOf("tapes", TapeInfo);
export type TapePage = Static<typeof TapePage>;

export const StoreBodyRequest = Type.Object(
  {
    hash: Type.String({ pattern: "^[0-9a-f]{64}$", description: "BLAKE3 of the bytes, which is the name of the body" }),
    base64: Type.String(),
  },
  closed,
);
export type StoreBodyRequest = Static<typeof StoreBodyRequest>;

export const StoreBodyResponse = Type.Object({ runId: Type.String(), hash: Sha256, bytes: Count }, closed);
export type StoreBodyResponse = Static<typeof StoreBodyResponse>;

/** So many rows are taken in one push, so many lines with its comments and blank ones, and so many characters of each. */
export { MAX_SIDECAR_ROWS };
export const MAX_SIDECAR_LINES = 4 * MAX_SIDECAR_ROWS;
export const MAX_ROW_CHARACTERS = 1_000_000;

export const PushSidecarRequest = Type.Object(
  {
    sidecar: Type.String({ minLength: 1, description: "the whole file: *.annotations.jsonl" }),
    dryRun: Type.Optional(Type.Boolean({ description: "only say what would come of it" })),
    prune: Type.Optional(
      Type.Boolean({
        description: "retract the caller's own rows that were pushed before and are no longer in the file",
      }),
    ),
  },
  closed,
);
export type PushSidecarRequest = Static<typeof PushSidecarRequest>;

/** The most changes in one response; all are counted. */
export const MAX_ROW_CHANGES = 1000;

export const ROW_FATES = ["recorded", "superseded", "withdrawn", "retracted", "only_here"] as const;

export const RowChange = Type.Object(
  {
    line: Type.Optional(Type.Integer({ minimum: 1, description: "of the file; absent for what is not in it" })),
    id: Type.String({ description: "of the row; empty when it has none" }),
    what: Type.Enum([...ROW_FATES]),
    annotationId: Type.Optional(Type.String()),
  },
  closed,
);
export type RowChange = Static<typeof RowChange>;

export const PushSidecarResponse = Type.Object(
  {
    recorded: Type.Integer({ minimum: 0, description: "rows that were not here" }),
    superseded: Type.Integer({ minimum: 0, description: "rows that say something else than before" }),
    unchanged: Count,
    withdrawn: Type.Integer({ minimum: 0, description: "rows that were retracted here, and stay so" }),
    retracted: Type.Integer({ minimum: 0, description: "by this push, with prune" }),
    onlyHere: Type.Integer({ minimum: 0, description: "judgments that the file does not have" }),
    scrubbed: Type.Integer({ minimum: 0, description: "lines that held a secret, which was not stored" }),
    dryRun: Type.Boolean(),
    changes: Type.Array(RowChange, { maxItems: MAX_ROW_CHANGES, description: "the first of them" }),
  },
  closed,
);
export type PushSidecarResponse = Static<typeof PushSidecarResponse>;

export const PastRows = Type.Object(
  {
    rows: Type.Array(Type.Object({ line: Type.String(), state: Type.Enum(["superseded", "retracted"]) }, closed)),
  },
  closed,
);
export type PastRows = Static<typeof PastRows>;
