import { Type } from "../../protocol/schema.ts";
import type { NodeType } from "../worker/node-type.ts";

/** Asks for a model such as there is none, so that the refusal can be seen. Its executor is never called. */
export const modelCapabilityInsufficient: NodeType = {
  kind: "pure",
  typeId: "conformance.modelCapability.insufficient",
  summary: "Requires something no model can do; the run fails before the node starts.",
  config: Type.Object({}, { additionalProperties: true }),
  capability: "modelCapabilities",
  requiredModelCapabilities: ["nonexistent-capability-9b3f"],
  execute: () => {
    throw new Error("dispatched a node whose model capability is not provided");
  },
};
