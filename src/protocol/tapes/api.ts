import { Count, Cursor, closed, Limit, pageOf, Sha256, ShortName, type Static, Type } from "../schema.ts";

export { isRecorded, RECORDED_WORKFLOW_ID } from "../words.ts";

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
