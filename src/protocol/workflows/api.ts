import { closed, type Static, Type } from "../schema.ts";

export const RegisterWorkflowResponse = Type.Object(
  {
    workflowId: Type.String(),
    version: Type.String(),
    hash: Type.String(),
    created: Type.Boolean(),
    scrubbed: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "how many texts of the definition held a secret, which was not stored; runs get `[REDACTED]` there",
      }),
    ),
  },
  closed,
);
export type RegisterWorkflowResponse = Static<typeof RegisterWorkflowResponse>;

export const ListWorkflowsResponse = Type.Object(
  {
    workflows: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), version: Type.String(), hash: Type.String() }, closed),
    ),
    nextCursor: Type.Optional(Type.String()),
  },
  closed,
);
