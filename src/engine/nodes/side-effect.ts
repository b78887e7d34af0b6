import { visitOf } from "../../protocol/runs/run.ts";
import { Type } from "../../protocol/schema.ts";
import type { Host } from "../host.ts";
import { withEffect } from "../runs/effects.ts";
import type { EffectNodeType } from "../worker/node-type.ts";

/**
 * Has an effect that can be seen: a claim under the effect's identity, with its outcome. Only there so that a suite can
 * watch effects being kept from happening twice; hosts have it with the conformance seams and not otherwise.
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
