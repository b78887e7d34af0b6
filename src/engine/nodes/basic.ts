import { defined } from "../../protocol/defined.ts";
import { Type } from "../../protocol/schema.ts";
import { Reducer } from "../../protocol/workflows/workflow.ts";
import type { NodeContext, NodeType, PureNodeType } from "../worker/node-type.ts";

export const noop: NodeType = {
  kind: "pure",
  typeId: "core.noop",
  summary: "Completes.",
  config: Type.Object({}, { additionalProperties: true }),
  execute: () => ({ type: "completed" }),
};

/** Writes each input to the variable of the same name and returns it as an output. */
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

const LONGEST_MS = 366 * 24 * 3600 * 1000;

/** Sleeps on a durable timer, which survives a restart and needs no worker. */
export const delay: NodeType = {
  kind: "pure",
  typeId: "core.delay",
  summary: "Sleeps for the input delayMs, else config.ms (or config.durationMs), else not at all.",
  config: Type.Object(
    {
      ms: Type.Optional(Type.Number({ minimum: 0, maximum: LONGEST_MS })),
      durationMs: Type.Optional(Type.Number({ minimum: 0, maximum: LONGEST_MS })),
    },
    { additionalProperties: true },
  ),
  execute: ({ config, inputs, slept }) => {
    if (slept) return { type: "completed" };
    const delayMs = inputs["delayMs"] ?? config["ms"] ?? config["durationMs"] ?? 0;
    if (typeof delayMs !== "number" || !(delayMs >= 0) || delayMs > LONGEST_MS) {
      const message = `delayMs must be a number from 0 to ${LONGEST_MS}.`;
      return { type: "failed", error: { code: "node_input_invalid", message } };
    }
    return delayMs === 0 ? { type: "completed" } : { type: "sleep", forMs: Math.ceil(delayMs) };
  },
};

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

export const channelWrite: NodeType = {
  kind: "pure",
  typeId: "core.channelWrite",
  summary: "Writes config.value, or the input value, to a channel.",
  config: Type.Object(
    {
      channelName: Type.String({ minLength: 1, maxLength: 256 }),
      reducer: Type.Optional(Reducer),
      ttlMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000_000 })),
      maxSize: Type.Optional(Type.Integer({ minimum: 1 })),
      value: Type.Optional(Type.Unknown()),
      schemaVersion: Type.Optional(Type.Integer({ minimum: 1 })),
    },
    { additionalProperties: true },
  ),
  execute: ({ config, inputs }) => {
    const { channelName, reducer, ttlMs, maxSize, schemaVersion } = config as {
      channelName: string;
      reducer?: string;
      ttlMs?: number;
      maxSize?: number;
      schemaVersion?: number;
    };
    const value = Object.hasOwn(inputs, "value") ? inputs["value"] : (config["value"] ?? null);
    return {
      type: "completed",
      outputs: { value },
      channels: [
        {
          channel: channelName,
          value,
          undeclared: { reducer: reducer ?? "replace", ...defined({ ttlMs, maxSize }) },
          ...defined({ schemaVersion }),
        },
      ],
    };
  },
};
