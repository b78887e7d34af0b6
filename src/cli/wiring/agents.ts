import type { Agents, ChannelResolver } from "../../agents/agents.ts";
import type { AgentsFile } from "../../agents/bindings/agents-file.ts";
import type { Bindings } from "../../agents/bindings/bindings.ts";
import { conformanceDeployments, withConformanceAgent } from "../../agents/conformance-agents.ts";
import { deployedChannels } from "../../agents/deployments/deployed-channels.ts";
import { deploymentNode } from "../../agents/deployments/management-workflow.ts";
import { activeVersions, isPromoted, unnamedVersions } from "../../agents/deployments/stored-deployments.ts";
import type { ToolGateway } from "../../agents/gateway/tool-gateway.ts";
import { remembers, scopeFor } from "../../agents/memory/agent-memory.ts";
import { type MemoryAdapter, memoryAdapter, type NamedSecret, redactor } from "../../agents/memory/memory-adapter.ts";
import { TEST_SECRET } from "../../agents/nodes/identity-node.ts";
import type { MockPrograms } from "../../agents/nodes/mock-programs.ts";
import { versionsOf } from "../../agents/registry/stored-agents.ts";
import { type McpTools, mcpTools } from "../../agents/tools/mcp-tools.ts";
import { type Host, idSource } from "../../engine/host.ts";
import { CANARY_ID } from "../../engine/nodes/secret-echo.ts";
import type { NodeType } from "../../engine/worker/node-type.ts";
import { calibrationNode } from "../../evals/calibration/calibration-node.ts";
import { agentJudge } from "../../evals/judge/agent-judge.ts";
import { evalNode } from "../../evals/run/eval-node.ts";
import type { EvalServices, EvalSettings } from "../../evals/run/eval-run.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { Store } from "../../store/port/store.ts";
import { ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { packageVersion } from "../version.ts";
import { agentBindings, agentsFileOf, namedKeysIn } from "./agent-bindings.ts";
import { askingNodes, mocksOf } from "./agent-nodes.ts";
import { configuredGateway, withGateway } from "./tool-gateway.ts";

/** What agents and evaluations are made of in this process. */
export interface AgentServices extends EvalServices {
  readonly file: AgentsFile;
  readonly bindings: Bindings;
  /** Absent where deployments are switched off: then no channel leads anywhere. */
  readonly channels?: ChannelResolver;
  readonly memory: MemoryAdapter;
  /** Its `close` also closes the gateway. */
  readonly tools: McpTools;
  /** Offers tools and memory to programs and endpoints. */
  readonly gateway: ToolGateway;
  /** Secrets that have a name in what is remembered. */
  readonly namedSecrets: readonly NamedSecret[];
  /** There while the conformance seams are on. */
  readonly mocks?: MockPrograms;
}

/** Throws `unusable_input` when the agents file cannot be used. */
export function agentServices(store: Store, config: Config, scrubber: Pick<Scrubber, "scrubText">): AgentServices {
  const file = agentsFileOf(config);
  const gateway = configuredGateway(config);
  const bindings = agentBindings(file, scrubber, ownEnvironment(), gateway);
  const namedSecrets = namedSecretsOf(config, file);
  const memory = memoryAdapter({
    store,
    redact: redactor(namedSecrets, scrubber),
    nowMs: Date.now,
    newId: idSource(Date.now),
  });
  const version = packageVersion();
  const mcp = mcpTools(file.mcp, {
    environment: ownEnvironment(),
    directory: process.cwd(),
    scrubText: scrubber.scrubText,
    version,
  });
  const tools = withGateway(mcp, gateway);
  const mocks = mocksOf(config);
  const fixed = mocks === undefined ? {} : { fixedDeployments: conformanceDeployments };
  const installed = installedAgents(store, bindings, tools, memory, fixed);
  const agents = mocks === undefined ? installed : withConformanceAgent(installed);
  const channels = deployedChannels(store, agents);
  const deploys = !config.disable.includes("deployment");
  return {
    file,
    bindings,
    agents,
    memory,
    tools,
    gateway,
    namedSecrets,
    ...(mocks === undefined ? {} : { mocks }),
    ...(deploys ? { channels } : {}),
    ...(bindings.judge === undefined ? {} : { judge: agentJudge(bindings.judge) }),
    settings: evalSettings(config),
  };
}

/** The node types that have to do with agents; those that ask them only where agents are served. */
export function agentNodeTypes(host: AgentNodeNeeds, services: AgentServices, serves: boolean): NodeType[] {
  return [
    evalNode(host, () => services),
    calibrationNode(host, () => services),
    deploymentNode,
    ...(serves ? askingNodes(host, services) : []),
  ];
}

export type AgentNodeNeeds = Pick<Host, "store" | "scrubber" | "nowMs" | "newId" | "effects">;

function installedAgents(
  store: Store,
  { bindingFor }: Bindings,
  tools: McpTools,
  memory: MemoryAdapter,
  fixed: Pick<Agents, "fixedDeployments">,
): Agents {
  return {
    ...fixed,
    versionsOf: (visible, agentId) => versionsOf(store, visible, agentId),
    activeVersions: (visible, agentId) => activeVersions(store, visible, agentId, fixed),
    unnamedVersions: (visible, agentId) => unnamedVersions(store, visible, agentId, fixed),
    isPromoted: (visible, agent) => isPromoted(store, visible, agent, fixed),
    bindingFor,
    toolsFor: tools.toolsFor,
    memoryFor: async (owner, agent, options) =>
      remembers(agent) ? memory.list(scopeFor(owner, agent.agentId), options) : [],
  };
}

/** The keys that the agents file names are known by their variables, and what a conformance suite asks for by its id. */
function namedSecretsOf({ conformanceSeams, canarySecret }: Config, file: AgentsFile): NamedSecret[] {
  const canary = canarySecret === undefined ? [] : [{ id: CANARY_ID, value: canarySecret }];
  return [...namedKeysIn(file, ownEnvironment()), ...canary, ...(conformanceSeams ? [TEST_SECRET] : [])];
}

export function evalSettings(config: Config): EvalSettings {
  const { maxTasksPerSuite, maxCostUsdPerSuite, maxEvalConcurrency, maxTrials } = config;
  return {
    maxTasksPerSuite,
    ...(maxCostUsdPerSuite === undefined ? {} : { maxCostUsdPerSuite: Number(maxCostUsdPerSuite) }),
    concurrency: Math.min(config.evalConcurrency, maxEvalConcurrency),
    maxConcurrency: maxEvalConcurrency,
    maxTrials,
    cacheMs: config.evalCacheSeconds * 1000,
  };
}
