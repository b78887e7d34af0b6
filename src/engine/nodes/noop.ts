import { Type } from "../../protocol/schema.ts";
import type { NodeType } from "../worker/node-type.ts";

export const noop: NodeType = {
  kind: "pure",
  typeId: "core.noop",
  summary: "Completes.",
  config: Type.Object({}, { additionalProperties: true }),
  execute: () => ({ type: "completed" }),
};
