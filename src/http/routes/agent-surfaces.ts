import { MEMORY_DEFAULTS } from "../../agents/memory/memory-adapter.ts";
import type { Host } from "../../engine/host.ts";
import type { AgentSurfaces } from "../../protocol/agents/agent-surfaces.ts";
import {
  ENVELOPE_ATTEMPTS,
  ENVELOPE_EVENTS,
  TRUNCATION_BUDGET_MULTIPLIER,
} from "../../protocol/agents/envelope-events.ts";
import { MOCK_PROVIDERS } from "../../protocol/runs/mock-provider.ts";

/** What comes with agents, and what a conformance suite sees of them besides. */
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
    // Which tools an agent may call is in its manifest; principals have no say in it.
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
