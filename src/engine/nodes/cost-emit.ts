import { Type } from "../../protocol/schema.ts";
import type { NodeType } from "../worker/node-type.ts";

const NUMBERS = ["tokens.input", "tokens.output", "tokens.total", "usd", "duration_ms"];
const TEXTS = ["currency", "provider", "model"];
const FLAGS = ["estimated"];

/** Records the allow-listed cost attributes of its config; anything else is dropped, whatever it holds. */
export const costEmit: NodeType = {
  kind: "pure",
  typeId: "conformance.cost.emit",
  summary: "Records allow-listed openwop.cost.* attributes and drops all others.",
  config: Type.Object(
    { attrs: Type.Optional(Type.Record(Type.String(), Type.Unknown())) },
    { additionalProperties: true },
  ),
  execute: ({ node, config }) => {
    const attributes = allowedCost((config["attrs"] ?? {}) as Record<string, unknown>);
    return {
      type: "completed",
      events: [{ type: "assay.cost.recorded", nodeId: node.id, payload: { nodeId: node.id, attributes } }],
    };
  },
};

/** The allow-list names the attribute and the type of its value, so that a secret cannot ride on a known name. */
function allowedCost(attrs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  const keep = (names: readonly string[], fits: (value: unknown) => boolean) => {
    for (const name of names) {
      const key = `openwop.cost.${name}`;
      if (Object.hasOwn(attrs, key) && fits(attrs[key])) kept[key] = attrs[key];
    }
  };
  keep(NUMBERS, (value) => typeof value === "number" && value >= 0 && Number.isFinite(value));
  keep(TEXTS, (value) => typeof value === "string" && /^[A-Za-z0-9][A-Za-z0-9 ._:/-]{0,63}$/.test(value));
  keep(FLAGS, (value) => typeof value === "boolean");
  return kept;
}
