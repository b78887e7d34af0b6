import type { Agents } from "../../agents/agents.ts";
import type { EvidenceDemand, EvidenceReader } from "../../agents/deployments/evidence.ts";
import type { EvidenceAsked, GateEvidence } from "../../engine/gates/gate-evidence.ts";
import type { Host } from "../../engine/host.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Condition, Evidence } from "../../protocol/promotion/evidence.ts";
import { type EvidenceSources, evidencePlanOf, evidenceReader } from "./evidence-reader.ts";
import { evidenceSources } from "./evidence-sources.ts";

interface Needs {
  readonly host: Pick<Host, "store">;
  readonly agents: Pick<Agents, "versionsOf">;
  readonly reader: EvidenceReader;
}

/** The evidence reader for hosts in this process. */
export function gateEvidenceOn(host: Host, agents: Needs["agents"], sources?: EvidenceSources): GateEvidence {
  return gateEvidence({ host, agents, reader: evidenceReader(host, sources ?? evidenceSources(host)) });
}

/** Evaluations for the gates of workflows. Nothing is deployed there, so the gate and its run say what the evaluation is about. */
function gateEvidence(needs: Needs): GateEvidence {
  return {
    suiteSha256: (visible, { suite = "", evidence }) => needs.reader.suiteSha256(visible, suite, evidence),
    async evidenceFor(asked) {
      const { visible, required, named, askedBy, independentPeople = false } = asked;
      const { agentId: _, agentVersion: __, ...rest } = required;
      const subject = await subjectOf(needs, asked);
      const { conditions, preconditions } = await needs.reader.read({
        visible,
        agent: subject,
        required: await withContent(needs.reader, asked, rest),
        ...defined({ evalRunId: named.evalRunId, askedBy }),
        independentPeople,
      });
      return { conditions: [...versionNamed(asked), ...conditions], preconditions } satisfies Evidence;
    },
  };
}

/**
 * The version that the gate is about, as it is installed now. A gate that names the very evaluation and no agent means the one that was
 * evaluated.
 */
async function subjectOf({ host, agents }: Needs, { visible, required, named }: EvidenceAsked) {
  const run = required.evalRunId === undefined ? undefined : await host.store.readRun(visible, required.evalRunId);
  const plan = run === undefined ? undefined : evidencePlanOf(run);
  const agentId = required.agentId ?? plan?.agentId ?? "one that the gate names";
  const version =
    required.agentVersion ?? named.agentVersion ?? plan?.resolvedAgentVersion ?? "one that the gate or its run names";
  const installed = (await agents.versionsOf(visible, agentId, { version })).find((one) => one.version === version);
  return {
    agentId,
    version,
    contentHash: installed?.contentHash ?? "that of the installed version, and it is not installed",
  };
}

/**
 * The required content of the suite: as the gate names it, else as it was when the workflow was registered. A workflow that an
 * older version registered has no pin, and uses the present content: nothing replaces a suite under its version.
 */
async function withContent(
  reader: EvidenceReader,
  { visible, pinned }: EvidenceAsked,
  demand: EvidenceDemand,
): Promise<EvidenceDemand> {
  if (demand.suite === undefined || demand.suiteSha256 !== undefined) return demand;
  if (pinned !== undefined) return { ...demand, suiteSha256: pinned };
  try {
    return { ...demand, suiteSha256: await reader.suiteSha256(visible, demand.suite) };
  } catch (error) {
    if (error instanceof AppError && error.code === "validation_error") return demand;
    throw error;
  }
}

/** Where both name a version, the versions must be equal. */
function versionNamed({ required, named }: EvidenceAsked): Condition[] {
  const { agentVersion: wanted } = required;
  if (wanted === undefined || named.agentVersion === undefined) return [];
  const { agentVersion: found } = named;
  return [{ condition: "agent version named", wanted, found, met: found === wanted }];
}
