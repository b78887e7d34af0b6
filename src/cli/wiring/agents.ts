import type { Agents, ChannelResolver } from "../../agents/agents.ts";
import type { AgentsFile } from "../../agents/bindings/agents-file.ts";
import type { Bindings } from "../../agents/bindings/bindings.ts";
import { conformanceDeployments, withConformanceAgent } from "../../agents/conformance-agents.ts";
import { deployedChannels } from "../../agents/deployments/deployed-channels.ts";
import { deploymentNode } from "../../agents/deployments/management-workflow.ts";
import { activeVersions, isPromoted, unnamedVersions } from "../../agents/deployments/stored-deployments.ts";
import { type ToolGateway, toolGateway } from "../../agents/gateway/tool-gateway.ts";
import { remembers, scopeFor } from "../../agents/memory/agent-memory.ts";
import { type MemoryAdapter, memoryAdapter, type NamedSecret, redactor } from "../../agents/memory/memory-adapter.ts";
import { agentDecisions } from "../../agents/nodes/agent-decisions.ts";
import { agentNode, agentUse, RUN_API_NODE_TYPE } from "../../agents/nodes/agent-node.ts";
import type { AgentDesk } from "../../agents/nodes/ask-agent.ts";
import { identityNode, TEST_SECRET } from "../../agents/nodes/identity-node.ts";
import { mockAgent } from "../../agents/nodes/mock-agent.ts";
import { MockPrograms } from "../../agents/nodes/mock-programs.ts";
import { callPrompt } from "../../agents/nodes/prompt-node.ts";
import { structuredOutput } from "../../agents/nodes/structured-output.ts";
import { versionsOf } from "../../agents/registry/stored-agents.ts";
import { type McpTools, mcpTools } from "../../agents/tools/mcp-tools.ts";
import { type Host, idSource } from "../../engine/host.ts";
import { CONFORMANCE_SECRET_ID } from "../../engine/nodes/conformance.ts";
import { planless } from "../../engine/nodes/decision-source.ts";
import { supervisor } from "../../engine/nodes/supervisor.ts";
import type { NodeType } from "../../engine/worker/node-type.ts";
import { calibrationNode } from "../../evals/calibration/calibration-node.ts";
import { agentJudge } from "../../evals/judge/agent-judge.ts";
import { evalNode } from "../../evals/run/eval-node.ts";
import type { EvalServices, EvalSettings } from "../../evals/run/eval-run.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import { packageVersion } from "../paths.ts";
import { ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { agentBindings, agentsFileOf, namedKeysIn } from "./agent-bindings.ts";

export interface AgentServices extends EvalServices {
  readonly file: AgentsFile;
  readonly bindings: Bindings;
  /** Absent where deployments are disabled: no channel has a version then. */
  readonly channels?: ChannelResolver;
  readonly memory: MemoryAdapter;
  /** Its `close` also closes the gateway. */
  readonly tools: McpTools;
  /** Offers tools and memory to programs and endpoints. */
  readonly gateway: ToolGateway;
  /** Secrets that are replaced by a name in memory. */
  readonly namedSecrets: readonly NamedSecret[];
  /** Present while the conformance routes are enabled. */
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
  const mocks = config.conformanceSeams ? new MockPrograms() : undefined;
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
    ...defined({
      mocks,
      channels: deploys ? channels : undefined,
      judge: bindings.judge && agentJudge(bindings.judge),
    }),
    settings: evalSettings(config),
  };
}

/** The node types about agents; those that call agents only where agents are served. */
export function agentNodeTypes(host: AgentNodeNeeds, services: AgentServices, serves: boolean): NodeType[] {
  return [
    evalNode(host, () => services),
    calibrationNode(host, () => services),
    deploymentNode,
    ...(serves ? callingNodes(host, services) : []),
  ];
}

type AgentNodeNeeds = Pick<Host, "store" | "scrubber" | "nowMs" | "newId" | "effects">;

function installedAgents(
  store: Store,
  { bindingFor }: Bindings,
  tools: McpTools,
  memory: MemoryAdapter,
  fixed: Pick<Agents, "fixedDeployments">,
): Agents {
  return {
    ...fixed,
    versionsOf: (visible, agentId, wanted) => versionsOf(store, visible, agentId, wanted),
    activeVersions: (visible, agentId) => activeVersions(store, visible, agentId, fixed),
    unnamedVersions: (visible, agentId) => unnamedVersions(store, visible, agentId, fixed),
    isPromoted: (visible, agent) => isPromoted(store, visible, agent, fixed),
    bindingFor,
    toolsFor: tools.toolsFor,
    memoryFor: async (owner, agent, options) =>
      remembers(agent) ? memory.list(scopeFor(owner, agent.agentId), options) : [],
  };
}

/** The keys of the agents file by their variables, and the secrets of conformance suites by their ids. */
function namedSecretsOf({ conformanceSeams, canarySecret }: Config, file: AgentsFile): NamedSecret[] {
  const planted = canarySecret === undefined ? [] : [{ id: CONFORMANCE_SECRET_ID, value: canarySecret }];
  return [...namedKeysIn(file, ownEnvironment()), ...planted, ...(conformanceSeams ? [TEST_SECRET] : [])];
}

export function evalSettings(config: Config): EvalSettings {
  const { maxTasksPerSuite, maxCostUsdPerSuite, maxEvalConcurrency, maxTrials } = config;
  return {
    maxTasksPerSuite,
    ...defined({ maxCostUsdPerSuite: maxCostUsdPerSuite === undefined ? undefined : Number(maxCostUsdPerSuite) }),
    concurrency: Math.min(config.evalConcurrency, maxEvalConcurrency),
    maxConcurrency: maxEvalConcurrency,
    maxTrials,
    cacheMs: config.evalCacheSeconds * 1000,
  };
}

/** The node types that call agents and models; those of conformance suites only with the conformance routes. */
function callingNodes(host: AgentNodeNeeds, services: AgentServices): NodeType[] {
  const desk = (): AgentDesk => services;
  const { bindings: models, mocks } = services;
  const prompts = () => ({ models, ...defined({ mocks }) });
  const decisions = agentDecisions(host, desk);
  return [
    agentNode(host, desk),
    identityNode(host, desk, mocks === undefined ? undefined : { secrets: services.namedSecrets }),
    { ...supervisor(decisions, mocks === undefined ? undefined : planless(host)), agent: agentUse(desk, false) },
    callPrompt(host, prompts),
    structuredOutput(host, prompts),
    ...(mocks === undefined ? [] : [mockAgent(host, desk), agentNode(host, desk, RUN_API_NODE_TYPE)]),
  ];
}
/** The tool gateway of this process, whose server starts with the first invocation that needs it. Throws `unusable_input`. */
function configuredGateway({ toolsUrl, toolsPort }: Pick<Config, "toolsUrl" | "toolsPort">): ToolGateway {
  return toolGateway({ port: toolsPort, ...defined({ remoteUrl: toolsUrl && checkedUrl(toolsUrl) }) });
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || url.username !== "" || url.search !== "" || url.hash !== "") {
    const form = "an http or https URL without user name, query and fragment, like https://assay.example/tools";
    throw unusableInput(`--tools-url must be ${form}`);
  }
  return url.href.replace(/\/+$/, "");
}

/** The tools, whose `close` closes the gateway first, so that no call reaches a closed tool. */
function withGateway(tools: McpTools, gateway: ToolGateway): McpTools {
  return {
    toolsFor: tools.toolsFor,
    async close() {
      await gateway.close();
      await tools.close();
    },
  };
}
