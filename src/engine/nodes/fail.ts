import { Type } from "../../protocol/schema.ts";
import type { NodeType } from "../worker/node-type.ts";

export const fail: NodeType = {
  kind: "pure",
  typeId: "core.fail",
  summary: "Always fails, with config.code and config.message if there are any.",
  config: Type.Object(
    {
      code: Type.Optional(Type.String({ pattern: "^[a-zA-Z][a-zA-Z0-9_.-]{0,127}$" })),
      message: Type.Optional(Type.String({ minLength: 1 })),
      retryable: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: true },
  ),
  execute: ({ node, config }) => ({
    type: "failed",
    error: {
      code: typeof config["code"] === "string" ? config["code"] : "node_failed",
      message: typeof config["message"] === "string" ? config["message"] : `Node ${node.id} always fails.`,
      ...(config["retryable"] === true ? { retryable: true } : {}),
    },
  }),
};
