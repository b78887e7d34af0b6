import { Type } from "../../protocol/schema.ts";
import type { NodeContext, PureNodeType } from "../worker/node-type.ts";

/** Writes each input back to the variable of the same name and hands it on as an output. */
export const identity: PureNodeType = {
  kind: "pure",
  typeId: "core.identity",
  summary: "Passes its inputs on: each becomes an output and a variable of the same name.",
  config: Type.Object(
    {
      emitDuplicateMessageId: Type.Optional(
        Type.Boolean({
          description: "Writes one message twice to every message channel, to show that it counts once.",
        }),
      ),
    },
    { additionalProperties: true },
  ),
  gatedConfig: { memoryAction: "memory.supported" },
  execute: (context) => ({
    type: "completed",
    outputs: context.inputs,
    variables: context.inputs,
    channels: context.config["emitDuplicateMessageId"] === true ? duplicateMessages(context) : [],
  }),
};

function duplicateMessages({ node, channels }: NodeContext) {
  const message = { messageId: `${node.id}:0`, role: "assistant", content: `from ${node.id}` };
  return Object.entries(channels)
    .filter(([, declared]) => declared.reducer === "message")
    .flatMap(([channel]) => [1, 2].map(() => ({ channel, value: message })));
}
