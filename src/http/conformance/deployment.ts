import type { InstalledAgent } from "../../agents/agents.ts";
import { CONFORMANCE_AGENT_ID, conformanceHash } from "../../agents/conformance-agents.ts";
import { channelsOf, stateOf } from "../../agents/deployments/deployments.ts";
import { readDeployments } from "../../agents/deployments/stored-deployments.ts";
import { type Applied, type DeploymentServices, transition } from "../../agents/deployments/transition.ts";
import { PROMOTES } from "../../agents/deployments/transition-rules.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import { channelKey } from "../../protocol/evolve/agent.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { OPERATIONS } from "../../protocol/operations.ts";
import { CHANNELS, type DeploymentTransition, LATEST } from "../../protocol/promotion/api.ts";
import type { HandlerOf } from "../pipeline/handler.ts";
import { ok } from "../pipeline/reply.ts";
import { definitionOf, hasEnded, startMade, untilRun } from "./made-run.ts";

/** Real transitions of an agent of the caller's tenant, or of a made-up one where none is named. */
export function deploymentRoute(
  services: DeploymentServices,
): HandlerOf<(typeof OPERATIONS)["conformanceDeploymentTransition"]> {
  return async ({ host, caller, body }) => {
    refuseForeign(caller, body);
    const { scenario, version = "1.0.0", channel = CHANNELS[0], evalRunId } = body;
    const fresh = scenario === "channel-pin" ? CONFORMANCE_AGENT_ID : freshAgentId(host);
    const { agentId = fresh } = body;
    const subject: Subject = {
      host,
      caller,
      agentId,
      version,
      services: { ...services, agents: withMadeUp(services.agents, agentId, version) },
    };
    switch (scenario) {
      case "promote":
        return answer(() => promoteTo(subject, channel, evalRunId));
      case "unauthorized":
        // The same principal with a key that allows nothing.
        return answer(() => oneStep({ ...subject, caller: { ...caller, keyScopes: [] } }, {}));
      case "eval-gate-unmet":
        return answer(() => oneStep(subject, { evalRunId: evalRunId ?? "run-that-is-not-there" }));
      case "channel-pin":
        return ok(await pin(isConformance(agentId) ? subject : { ...subject, services }, channel));
    }
  };
}

interface Place {
  readonly tenantId?: string;
  readonly workspace?: string;
  readonly workspaceId?: string;
}

/** The route does no more than its caller may: not even a key of the whole tenant may name a workspace that is not its own. */
function refuseForeign({ tenant, workspace: own }: Caller, { tenantId, workspace, workspaceId }: Place): void {
  if (tenantId !== undefined && tenantId !== tenant) throw new AppError("tenant_mismatch");
  if ([workspace, workspaceId].every((named) => named === undefined || named === own)) return;
  const problem = "this key is not bound to that workspace; leave workspace out, or name the key's own";
  throw new AppError("forbidden", { problem });
}

interface Subject {
  readonly host: Host;
  readonly services: DeploymentServices;
  readonly caller: Caller;
  readonly agentId: string;
  readonly version: string;
}

function freshAgentId(host: Host): string {
  return `core.conformance.deployed.${host.newId("run").toLowerCase()}`;
}

/** Agents that exist for a suite have every version that it asks for. */
function isConformance(agentId: string): boolean {
  return agentId.startsWith("core.conformance.");
}

/** An agent that is not installed is made up, so that a suite needs no pack. An installed agent has its own versions only. */
function withMadeUp(
  agents: DeploymentServices["agents"],
  agentId: string,
  version: string,
): DeploymentServices["agents"] {
  const madeUp: InstalledAgent = {
    agentId,
    version,
    packName: "core.conformance",
    persona: "Deployed",
    modelClass: "general",
    systemPrompt: "Answer with what you are given.",
    toolAllowlist: [],
    contentHash: conformanceHash(agentId, version),
  };
  return {
    ...agents,
    versionsOf: async (visible, wanted) => {
      const found = await agents.versionsOf(visible, wanted);
      if (wanted !== agentId || found.some((one) => one.version === version)) return found;
      return found.length === 0 || isConformance(agentId) ? [madeUp, ...found] : found;
    },
  };
}

async function answer(act: () => Promise<Applied>) {
  try {
    const { deployment: record, runId } = await act();
    return ok({ allowed: true, runId, record });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, details } = error;
    return ok({ allowed: false, error: code, runId: details["runId"], details });
  }
}

function send({ host, services, caller, agentId, version }: Subject, change: Omit<DeploymentTransition, "version">) {
  const request = { version, ...change };
  return transition(host, services, { caller, agentId, request, record: () => undefined });
}

function deploymentsOf({ host, services, caller, agentId }: Subject) {
  return readDeployments(host.store, caller, agentId, services.agents);
}

async function oneStep(subject: Subject, more: Partial<DeploymentTransition>): Promise<Applied> {
  const { now } = await deploymentsOf(subject);
  return send(subject, {
    transition: "promote",
    toState: PROMOTES[stateOf(now, subject.version)] ?? "active",
    ...more,
  });
}

/** One step after the other, as every caller has to. */
async function promoteTo(subject: Subject, channel: string, evalRunId?: string): Promise<Applied> {
  const evidence = evalRunId === undefined ? {} : { evalRunId };
  const { now: before } = await deploymentsOf(subject);
  // From an earlier call.
  if (channelsOf(before, subject.version).includes(channel)) await send(subject, { transition: "pause" });
  for (;;) {
    const { now } = await deploymentsOf(subject);
    const toState = PROMOTES[stateOf(now, subject.version)] ?? "active";
    const last = toState === "active";
    const applied = await send(subject, { transition: "promote", toState, ...(last ? { channel, ...evidence } : {}) });
    if (last) return applied;
  }
}

const WAITING = { limitMs: 5000, reason: "No worker executed the run in time" };

/** A run of a real workflow that names the channel; the version that it resolved to is in its log. */
async function pin(subject: Subject, channel: string) {
  const { host, caller, agentId, version } = subject;
  const { now } = await deploymentsOf(subject);
  const isServed =
    stateOf(now, version) === "active" && (channel === LATEST || channelsOf(now, version).includes(channel));
  if (!isServed) await promoteTo(subject, channel === LATEST ? CHANNELS[0] : channel);
  const runId = await startMade(host, caller, workflowOf(agentId, channel));
  const run = await untilRun(host, caller, runId, hasEnded, WAITING);
  const resolvedAgentVersion = run.agent?.channels?.[channelKey(agentId, channel)];
  return { allowed: true, runId, resolvedAgentVersion, resolvedChannel: channel };
}

function workflowOf(agentId: string, channel: string) {
  const position = { x: 0, y: 0 };
  const agent = { agentId, channel };
  return definitionOf({
    id: "conformance-deployment-channel-pin",
    name: "Conformance channel",
    nodes: [{ id: "agent", typeId: "core.identity", name: "Agent", position, config: {}, inputs: {}, agent }],
  });
}
