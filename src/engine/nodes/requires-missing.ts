import { Type } from "../../protocol/schema.ts";
import type { NodeType } from "../worker/node-type.ts";

/** Asks for a capability that no host provides, so that the refusal can be seen. Its executor is never called. */
export const requiresMissing: NodeType = {
  kind: "pure",
  typeId: "conformance.requiresMissing",
  summary: "Requires a capability that is never provided; the run fails before the node starts.",
  config: Type.Object({}, { additionalProperties: true }),
  requires: ["conformance.never-provided"],
  execute: () => {
    throw new Error("dispatched a node whose capability is not provided");
  },
};
