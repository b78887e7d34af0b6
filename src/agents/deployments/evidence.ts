import type { Visibility } from "../../protocol/identity/identity.ts";
import type { PolicyEvidence } from "../../protocol/promotion/api.ts";
import type { Evidence, EvidenceCoverage } from "../../protocol/promotion/evidence.ts";
import type { InstalledAgent } from "../agents.ts";

/** The evaluation required for a version. */
export interface EvidenceAsked {
  readonly visible: Visibility;
  readonly agent: Pick<InstalledAgent, "agentId" | "version" | "contentHash">;
  /** The one that was named in the request. */
  readonly evalRunId?: string;
  /** All requesters: their own scores must not support the request. */
  readonly askedBy?: readonly string[];
  /** Where voters have to be independent, only scores of principals who may approve can raise the result. */
  readonly independentPeople?: boolean;
  /** Absent: nothing is asked for, and one that is named has to hold all the same. */
  readonly required?: EvidenceDemand;
}

/** A policy names the suite; a gate that names the very evaluation need not. */
export type EvidenceDemand = Omit<PolicyEvidence, "suite"> & Partial<Pick<PolicyEvidence, "suite">>;

/** Reads evaluations. Whatever it cannot read is a condition that is not met. */
export interface EvidenceReader {
  read(asked: EvidenceAsked): Promise<Evidence>;
  /** The suite's SHA-256 now. Throws `validation_error` for a suite, mode or task that is not there. */
  suiteSha256(visible: Visibility, suite: string, coverage?: EvidenceCoverage): Promise<string>;
}
