import { refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Condition } from "../../protocol/promotion/api.ts";
import type { PolicyRule } from "../../protocol/promotion/promotion-policy.ts";
import type { Unit } from "../../store/port/store.ts";
import type { InstalledAgent } from "../installed-agent.ts";
import type { Wanted } from "./management-run.ts";
import type { StoredDeployments } from "./stored-deployments.ts";

/** A transition, and what has been found out about it so far. */
export interface Considered {
  readonly host: Host;
  readonly wanted: Wanted;
  readonly agent: InstalledAgent;
  readonly place: Visibility;
  readonly stored: StoredDeployments;
  readonly rule: PolicyRule;
  readonly conditions: readonly Condition[];
}

export function targetOf({ agentId, request }: Wanted): string {
  return `${agentId}@${request.version}`;
}

/** "moved" when it was decided at something that has changed since. */
export async function commit(host: Host, unit: Unit): Promise<"done" | "moved"> {
  const committed = await host.store.commit(unit);
  if (committed.ok) return "done";
  const { refusal } = committed;
  if (["document", "version", "precondition"].includes(refusal.type)) return "moved";
  throw refused(refusal);
}
