import type { Authorizer } from "../../engine/identity/roles.ts";
import type { Agents } from "../agents.ts";
import type { EvidenceReader } from "./evidence.ts";
import type { RecentRefusals } from "./record-refusal.ts";

/** Services for deployments from the process they run in. */
export interface DeploymentServices {
  readonly agents: Pick<Agents, "versionsOf" | "fixedDeployments">;
  readonly evidence: EvidenceReader;
  /** Whether the key and a role of the caller grant a scope. */
  readonly decide: Authorizer["decide"];
  readonly refusals: RecentRefusals;
}
