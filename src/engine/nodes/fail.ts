import { Type } from "../../protocol/schema.ts";
import type { NodeType } from "../node-type.ts";

export const fail: NodeType = {
  kind: "pure",
  typeId: "core.fail",
  summary: "Always fails, with config.message if there is one.",
  config: Type.Object(
    { message: Type.Optional(Type.String({ minLength: 1 })), retryable: Type.Optional(Type.Boolean()) },
    { additionalProperties: true },
  ),
  execute: ({ node, config }) => ({
    type: "failed",
    error: {
      code: "node_failed",
      message: typeof config["message"] === "string" ? config["message"] : `Node ${node.id} always fails.`,
      ...(config["retryable"] === true ? { retryable: true } : {}),
    },
  }),
};
