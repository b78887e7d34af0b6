import { createHash } from "node:crypto";
import { visitOf } from "../../protocol/runs/run.ts";
import { Type } from "../../protocol/schema.ts";
import type { Host } from "../host.ts";
import { withEffect } from "../runs/effects.ts";
import type { EffectNodeType, NodeType } from "../worker/node-type.ts";

/**
 * Has a visible effect: a claim under the effect's identity, with its outcome. A conformance suite checks with it that effects do not happen
 * twice; hosts serve it with the conformance routes only.
 */
export function sideEffect(host: Pick<Host, "store" | "nowMs" | "effects">): EffectNodeType {
  return {
    kind: "effect",
    typeId: "core.conformance.side-effect",
    summary: "Has one effect in each visit, and records under which id.",
    config: Type.Object({}, { additionalProperties: true }),
    async execute({ node, run, signal }) {
      const effect = {
        tenantId: run.owner.tenant,
        runId: run.runId,
        nodeId: node.id,
        ordinal: visitOf(run, node.id),
        providerKey: "conformance:side-effect",
        claimedBy: "conformance",
        providerAcceptsIdentity: true,
        signal,
      };
      const result = await withEffect(host, effect, async (effectId) => ({ type: "succeeded", value: { effectId } }));
      return result.type === "failed" ? result : { type: "completed", outputs: result.value };
    },
  };
}

/** The id of the secret that a conformance suite asks for. */
export const CONFORMANCE_SECRET_ID = "openwop-conformance-canary-secret";

/** Finds a secret by its id. */
type ResolveSecret = (secretId: string) => string | undefined;

/**
 * Proves that a secret was found without showing it. Hosts serve it with the conformance routes and a secret only. Its result is recorded, so a
 * replay needs no secret.
 */
export function secretEcho(resolve: ResolveSecret): EffectNodeType {
  return {
    kind: "effect",
    typeId: "conformance.secret.echo",
    summary: "Finds a secret and records its SHA-256 and its length, never the secret.",
    config: Type.Object(
      { secretId: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })) },
      { additionalProperties: true },
    ),
    capability: "secrets",
    async execute({ node, config }) {
      const secretId = String(config["secretId"] ?? CONFORMANCE_SECRET_ID);
      const secret = resolve(secretId);
      if (secret === undefined) {
        const message = `Node ${node.id} asks for a secret that this host does not have.`;
        return { type: "failed", error: { code: "secret_not_found", message, details: { secretId } } };
      }
      const found = {
        sha256: createHash("sha256").update(secret, "utf8").digest("hex"),
        byteLength: Buffer.byteLength(secret, "utf8"),
      };
      return { type: "completed", outputs: found, variables: found };
    },
  };
}

const NUMBERS = ["tokens.input", "tokens.output", "tokens.total", "usd", "duration_ms"];
const TEXTS = ["currency", "provider", "model"];
const FLAGS = ["estimated"];

/** Records the allow-listed cost attributes of its config, and drops all others. */
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

/** The allow-list has the type of each attribute, so that a secret cannot be passed under a known name. */
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

/** Requires a capability that no host provides, to show the refusal. It is never executed. */
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

/** Requires a model capability that no model has, to show the refusal. It is never executed. */
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
