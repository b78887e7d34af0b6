import type { Authorizer } from "../../engine/identity/roles.ts";
import type { Agents } from "../agents.ts";
import type { EvidenceReader } from "./evidence.ts";
import type { RecentRefusals } from "./record-refusal.ts";

/** What deployments are given by the process they are made in. */
export interface DeploymentServices {
  readonly agents: Pick<Agents, "versionsOf" | "fixedDeployments">;
  readonly evidence: EvidenceReader;
  /** Whether the key and a role of the caller grant a scope. */
  readonly decide: Authorizer["decide"];
  readonly refusals: RecentRefusals;
}
