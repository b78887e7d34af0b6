import type { Capability } from "../../protocol/operation.ts";
import type { NodeType, NodeTypes } from "../worker/node-type.ts";
import { approvalGate } from "./approval-gate.ts";
import { channelWrite, delay, fail, identity, noop } from "./basic.ts";
import { clarificationGate } from "./clarification-gate.ts";
import { costEmit, modelCapabilityInsufficient, requiresMissing } from "./conformance.ts";
import { dispatch } from "./dispatch.ts";
import { governedGate } from "./governed-gate.ts";
import { interrupt } from "./interrupt.ts";
import { subWorkflow } from "./sub-workflow.ts";
import { supervisor } from "./supervisor.ts";

const ALL: readonly NodeType[] = [
  noop,
  identity,
  delay,
  fail,
  channelWrite,
  approvalGate,
  clarificationGate,
  interrupt,
  governedGate,
  subWorkflow,
  supervisor(),
  dispatch,
  requiresMissing,
  modelCapabilityInsufficient,
  costEmit,
];

export const NODE_TYPES: NodeTypes = new Map(ALL.map((type) => [type.typeId, type]));

/** The node types of a host with these capabilities. */
export function servedTypes(types: Iterable<NodeType>, capabilities: ReadonlySet<Capability>): NodeTypes {
  const served = [...types].filter(({ capability }) => capability === undefined || capabilities.has(capability));
  return new Map(served.map((type) => [type.typeId, type]));
}
