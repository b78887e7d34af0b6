import type { NodeType, NodeTypes } from "../node-type.ts";
import { channelWrite } from "./channel-write.ts";
import { costEmit } from "./cost-emit.ts";
import { delay } from "./delay.ts";
import { fail } from "./fail.ts";
import { identity } from "./identity.ts";
import { noop } from "./noop.ts";
import { requiresMissing } from "./requires-missing.ts";

const ALL: readonly NodeType[] = [noop, identity, delay, fail, channelWrite, requiresMissing, costEmit];

export const NODE_TYPES: NodeTypes = new Map(ALL.map((type) => [type.typeId, type]));
