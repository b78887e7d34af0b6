import { MEMORY_DEFAULTS } from "../../agents/memory/memory-adapter.ts";
import { SUMMARY_TOKENS } from "../../agents/message-stream.ts";
import type { Host } from "../../engine/host.ts";
import { servedModes } from "../../evals/run/chosen-modes.ts";
import type { AgentSurfaces, AgentsFamily } from "../../protocol/agents/discovery.ts";
import { ENVELOPE_ATTEMPTS, ENVELOPE_EVENTS, TRUNCATION_BUDGET_MULTIPLIER } from "../../protocol/agents/events.ts";
import type { Discovery } from "../../protocol/discovery.ts";
import { DEPLOYMENT_STATES, RESOLVED_CHANNELS } from "../../protocol/promotion/api.ts";
import { MOCK_PROVIDERS } from "../../protocol/runs/mock-provider.ts";
import type { Discovered } from "./discovery.ts";

/** The surfaces of agents, with the marks by which a conformance suite finds its routes. */
export function agentSurfaces(capabilities: Host["capabilities"]): AgentSurfaces {
  if (!capabilities.has("agents")) return {};
  return {
    memory: {
      supported: true,
      maxEntrySizeBytes: MEMORY_DEFAULTS.maxEntrySizeBytes,
      ttlSupported: true,
      attribution: { supported: true, emitsWriteEvents: true },
    },
    providerUsage: { supported: true, costEstimates: true, currency: "USD" },
    // The manifest of an agent lists the tools that it may call; principals have no part in it.
    toolHooks: { supported: true, prePostEvents: true, perToolAuthorization: false, perToolRateLimit: false },
    envelopes: {
      reliability: {
        supported: true,
        events: Object.keys(ENVELOPE_EVENTS),
        maxRetryAttempts: ENVELOPE_ATTEMPTS,
        completion: { distinguishesTruncation: true, truncationBudgetMultiplier: TRUNCATION_BUDGET_MULTIPLIER },
      },
    },
    ...(capabilities.has("conformanceSeams")
      ? { conformance: { mockAgent: true }, testing: { mockProviders: [...MOCK_PROVIDERS] } }
      : {}),
  };
}

/** Each part is present while its own capability is on. */
export function agentsFamily({ host: { capabilities }, evals }: Discovered): Pick<Discovery, "agents"> {
  const agents: AgentsFamily = {
    ...(capabilities.has("agents") ? RUNTIME : {}),
    ...(capabilities.has("evalSuite") ? evalSuites(evals) : {}),
    ...(capabilities.has("deployment") ? DEPLOYMENT : {}),
    ...(capabilities.has("orchestrator") ? ORCHESTRATION : {}),
  };
  return Object.keys(agents).length === 0 ? {} : { agents };
}

const RUNTIME: AgentsFamily = {
  supported: true,
  memoryBackends: ["long-term"],
  reasoning: { verbosity: "full", tokenLimit: SUMMARY_TOKENS, streaming: true },
  manifestRuntime: { supported: true, handoffValidation: true, installScope: "tenant" },
  liveRuntime: {
    supported: true,
    structuredOutput: true,
    confidenceEscalation: true,
    sources: ["workflow-node", "run-api"],
  },
};

function evalSuites(evals: Discovered["evals"]): AgentsFamily {
  const { maxTasksPerSuite, maxCostUsdPerSuite } = evals.settings;
  return {
    evalSuite: {
      supported: true,
      modes: servedModes(evals),
      maxTasksPerSuite,
      ...(maxCostUsdPerSuite === undefined ? {} : { maxCostUsdPerSuite }),
    },
  };
}

const DEPLOYMENT: AgentsFamily = {
  deployment: {
    supported: true,
    channels: [...RESOLVED_CHANNELS],
    canary: true,
    rollback: true,
    states: [...DEPLOYMENT_STATES],
  },
};

const ORCHESTRATION: AgentsFamily = { orchestrator: true, dispatch: true, dispatchMapping: true };
