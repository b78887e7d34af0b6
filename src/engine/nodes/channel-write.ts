import { defined } from "../../protocol/defined.ts";
import { Type } from "../../protocol/schema.ts";
import { Reducer } from "../../protocol/workflows/workflow.ts";
import type { NodeType } from "../worker/node-type.ts";

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
          undeclared: {
            reducer: reducer ?? "replace",
            ...defined({ ttlMs, maxSize }),
          },
          ...defined({ schemaVersion }),
        },
      ],
    };
  },
};
