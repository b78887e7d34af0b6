import type { Condition } from "../../protocol/deployment-api.ts";
import type { Visibility } from "../../protocol/identity.ts";
import type { PolicyEvidence } from "../../protocol/promotion-policy.ts";
import type { InstalledAgent } from "../installed-agent.ts";

/** What an evaluation has to prove about a version. */
export interface EvidenceAsked {
  readonly visible: Visibility;
  readonly agent: Pick<InstalledAgent, "agentId" | "version" | "contentHash">;
  /** The one that was named in the request. */
  readonly evalRunId?: string;
  /** Absent: nothing is asked for, and one that is named has to hold all the same. */
  readonly required?: PolicyEvidence;
}

/** Reads evaluations. Whatever it cannot read is a condition that is not met. */
export interface EvidenceReader {
  conditions(asked: EvidenceAsked): Promise<Condition[]>;
  /** Throws `validation_error` when there is no such suite; else what it holds now. */
  suiteSha256(visible: Visibility, suite: string): Promise<string>;
}
