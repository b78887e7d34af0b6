import { createHash } from "node:crypto";
import { Type } from "../../protocol/schema.ts";
import type { EffectNodeType } from "../worker/node-type.ts";

/** The one secret that a conformance suite asks for. */
export const CANARY_ID = "openwop-conformance-canary-secret";

/** Finds a secret by its id; undefined when there is none. */
type ResolveSecret = (secretId: string) => string | undefined;

/**
 * Shows that a secret was found without showing it. Only there for a conformance suite; hosts have it with the conformance
 * seams and a secret to find, and not otherwise. What it found is recorded, so a replay needs no secret.
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
      const secretId = String(config["secretId"] ?? CANARY_ID);
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
