import type { InstalledAgent } from "../../agents/agents.ts";
import { CONFORMANCE_AGENT_ID, conformanceHash } from "../../agents/conformance-agents.ts";
import { channelsOf, stateOf } from "../../agents/deployments/deployments.ts";
import { readDeployments } from "../../agents/deployments/stored-deployments.ts";
import { type Applied, type DeploymentServices, transition } from "../../agents/deployments/transition.ts";
import { PROMOTES } from "../../agents/deployments/transition-rules.ts";
import type { Host } from "../../engine/host.ts";
import { createRun } from "../../engine/runs/create-run.ts";
import { registerWorkflow } from "../../engine/workflows/register-workflow.ts";
import { AppError } from "../../protocol/errors.ts";
import { channelKey } from "../../protocol/evolve/agent.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { CHANNELS, type DeploymentTransition, LATEST } from "../../protocol/promotion/api.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

interface Asked {
  readonly scenario: "promote" | "unauthorized" | "eval-gate-unmet" | "channel-pin";
  readonly agentId?: string;
  readonly version?: string;
  readonly channel?: string;
  readonly evalRunId?: string;
  readonly tenantId?: string;
  readonly workspace?: string;
  readonly workspaceId?: string;
}

/** Real transitions of an agent of the caller's tenant, or of one that is made up for the purpose where none is named. */
export function seamDeploymentRoute(services: DeploymentServices): Handler {
  return async ({ host, body, ...context }) => {
    const caller = callerOf(context);
    const asked = body as Asked;
    refuseForeign(caller, asked);
    const { scenario, version = "1.0.0", channel = CHANNELS[0], evalRunId } = asked;
    const fresh = scenario === "channel-pin" ? CONFORMANCE_AGENT_ID : freshAgentId(host);
    const { agentId = fresh } = asked;
    const seam: Seam = {
      host,
      caller,
      agentId,
      version,
      services: { ...services, agents: withMadeUp(services.agents, agentId, version) },
    };
    switch (scenario) {
      case "promote":
        return answer(() => promoteTo(seam, channel, evalRunId));
      case "unauthorized":
        // The same principal with a key that allows nothing.
        return answer(() => oneStep({ ...seam, caller: { ...caller, keyScopes: [] } }, {}));
      case "eval-gate-unmet":
        return answer(() => oneStep(seam, { evalRunId: evalRunId ?? "run-that-is-not-there" }));
      case "channel-pin":
        return { status: 200, json: await pin(isConformance(agentId) ? seam : { ...seam, services }, channel) };
    }
  };
}

/** A seam does no more than its caller may: not even a key of the whole tenant names a place here that is not its own. */
function refuseForeign({ tenant, workspace: own }: Caller, { tenantId, workspace, workspaceId }: Asked): void {
  if (tenantId !== undefined && tenantId !== tenant) throw new AppError("tenant_mismatch");
  if ([workspace, workspaceId].every((named) => named === undefined || named === own)) return;
  const problem = "this key is not bound to that workspace; leave workspace out, or name the key's own";
  throw new AppError("forbidden", { problem });
}

interface Seam {
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

/** What is not installed is taken to be, so that a suite needs no pack. An agent that was installed has its own versions only. */
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
    return { status: 200, json: { allowed: true, runId, record } };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, details } = error;
    return { status: 200, json: { allowed: false, error: code, runId: details["runId"], details } };
  }
}

function send({ host, services, caller, agentId, version }: Seam, change: Omit<DeploymentTransition, "version">) {
  const request = { version, ...change };
  return transition(host, services, { caller, agentId, request, record: () => undefined });
}

function deploymentsOf({ host, services, caller, agentId }: Seam) {
  return readDeployments(host.store, caller, agentId, services.agents);
}

async function oneStep(seam: Seam, more: Partial<DeploymentTransition>): Promise<Applied> {
  const { now } = await deploymentsOf(seam);
  return send(seam, { transition: "promote", toState: PROMOTES[stateOf(now, seam.version)] ?? "active", ...more });
}

/** One step after the other, as everybody has to. */
async function promoteTo(seam: Seam, channel: string, evalRunId?: string): Promise<Applied> {
  const evidence = evalRunId === undefined ? {} : { evalRunId };
  const { now: before } = await deploymentsOf(seam);
  // From an earlier call.
  if (channelsOf(before, seam.version).includes(channel)) await send(seam, { transition: "pause" });
  for (;;) {
    const { now } = await deploymentsOf(seam);
    const toState = PROMOTES[stateOf(now, seam.version)] ?? "active";
    const last = toState === "active";
    const applied = await send(seam, { transition: "promote", toState, ...(last ? { channel, ...evidence } : {}) });
    if (last) return applied;
  }
}

/** A run of a real workflow that names the channel; what it was given is in its log. */
async function pin(seam: Seam, channel: string) {
  const { host, caller, agentId, version } = seam;
  const { now } = await deploymentsOf(seam);
  const there =
    stateOf(now, version) === "active" && (channel === LATEST || channelsOf(now, version).includes(channel));
  if (!there) await promoteTo(seam, channel === LATEST ? CHANNELS[0] : channel);
  const definition = workflowOf(agentId, channel);
  await registerWorkflow(host, { caller, definition, text: JSON.stringify(definition), record: () => undefined });
  const request = { workflowId: definition.id };
  const { runId } = await createRun(host, { caller, request, dedup: false, record: () => undefined });
  const resolvedAgentVersion = await pinnedIn(host, caller, runId, channelKey(agentId, channel));
  return { allowed: true, runId, resolvedAgentVersion, resolvedChannel: channel };
}

const LONGEST_WAIT_MS = 5000;

async function pinnedIn(host: Host, caller: Caller, runId: string, key: string): Promise<string | undefined> {
  for (const untilMs = host.nowMs() + LONGEST_WAIT_MS; ; ) {
    const run = await host.store.readRun(caller, runId);
    if (run !== undefined && isTerminal(run.status)) return run.agent?.channels?.[key];
    if (host.nowMs() > untilMs) throw new AppError("unavailable", { reason: "No worker executed the run in time" });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function workflowOf(agentId: string, channel: string): WorkflowDefinition {
  return {
    id: "conformance-deployment-channel-pin",
    name: "Conformance channel",
    version: "1",
    nodes: [
      {
        id: "agent",
        typeId: "core.identity",
        name: "Agent",
        position: { x: 0, y: 0 },
        config: {},
        inputs: {},
        agent: { agentId, channel },
      },
    ],
    edges: [],
    triggers: [{ id: "manual", type: "manual", enabled: true }],
    variables: [],
    metadata: {},
    settings: {},
  };
}
