import { SUMMARY_TOKENS } from "../../agents/message-stream.ts";
import { servedModes } from "../../evals/run/chosen-modes.ts";
import type { AgentsFamily } from "../../protocol/agents/agents-family.ts";
import type { Discovery } from "../../protocol/discovery.ts";
import { DEPLOYMENT_STATES, RESOLVED_CHANNELS } from "../../protocol/promotion/api.ts";
import type { Discovered } from "../documents/discovery.ts";

/** Each part of it is there while its own capability is. */
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
