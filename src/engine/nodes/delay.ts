import { Type } from "../../protocol/schema.ts";
import type { NodeType } from "../worker/node-type.ts";

const LONGEST_MS = 366 * 24 * 3600 * 1000;

/** Sleeps on a durable timer: a restart does not lose it, and waiting costs no worker. */
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
