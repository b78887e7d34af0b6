import { createHash } from "node:crypto";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { own } from "../../protocol/own.ts";
import type { DeploymentTransition } from "../../protocol/promotion/api.ts";
import type { PolicyRule } from "../../protocol/promotion/promotion-policy.ts";
import { decideTransition } from "./decide-transition.ts";
import { channelsOf, type Deployments } from "./deployments.ts";

/** The question to the approvers. */
export interface Question {
  readonly now: Deployments;
  readonly request: DeploymentTransition;
  readonly agentHash: string;
  readonly rule: PolicyRule;
}

/** Another request, another state of things, another policy: another question. What serves elsewhere by then was not asked about. */
export function digestOf({ now, request: { reason: _, ...request }, agentHash, rule }: Question): string {
  const { other, events } = decideTransition(now, request, { agentHash });
  const current = { deployed: own(now.versions, request.version) ?? null, channels: channelsOf(now, request.version) };
  const text = canonicalJson({ request, standing: current, agentHash, other: other ?? null, events, rule });
  return createHash("sha256").update(text).digest("hex");
}
