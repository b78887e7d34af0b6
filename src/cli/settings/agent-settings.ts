import { count, seconds } from "./setting-units.ts";
import type { Setting } from "./settings.ts";

/** Settings of agents and of evaluations. Rows of the table in `settings.ts`. */
export const AGENT_SETTINGS = {
  agents: {
    group: "Agents",
    type: "path",
    value: "FILE",
    summary: "A JSON file that says how agents are called: by which model, program, endpoint or script.",
  },
  packs: {
    group: "Agents",
    type: "paths",
    default: [],
    value: "DIR",
    summary: "Folders of agent packs, each a folder or an archive, that are installed for every tenant at start.",
  },
  publisherKeys: {
    group: "Agents",
    type: "path",
    value: "FILE",
    summary:
      "A JSON file of the public keys that packs may be signed with; a pack that none of them signed is refused.",
  },
  allowUnsigned: {
    group: "Agents",
    type: "flag",
    default: false,
    summary: "Install packs without a signature too; a signature that does not fit is refused all the same.",
  },
  toolsUrl: {
    group: "Agents",
    type: "text",
    value: "URL",
    summary:
      "The address under which HTTP agents on other machines reach the tool gateway of this process, such as that of a proxy or tunnel; without it they are offered no tools.",
  },
  toolsPort: {
    group: "Agents",
    type: "integer",
    default: 0,
    min: 0,
    max: 65_535,
    value: "PORT",
    summary: "The loopback port of the tool gateway, for a proxy or tunnel that leads to it; 0 takes a free one.",
  },
  maxTasksPerSuite: {
    ...count,
    group: "Agents",
    default: 10_000,
    max: 100_000,
    summary: "Tasks an evaluation may have at most.",
  },
  maxCostUsdPerSuite: {
    group: "Agents",
    type: "text",
    value: "USD",
    summary:
      "What an evaluation may spend at most, in US dollars; it is stopped when it has. Without it there is no cap.",
  },
  evalConcurrency: {
    ...count,
    group: "Agents",
    default: 4,
    max: 1000,
    summary: "Tasks of an evaluation that run at the same time, unless whoever starts it names another number.",
  },
  maxEvalConcurrency: {
    ...count,
    group: "Agents",
    default: 64,
    max: 1000,
    summary: "The most tasks at the same time that an evaluation may ask for.",
  },
  maxTrials: {
    ...count,
    group: "Agents",
    default: 100,
    max: 10_000,
    summary: "How often a task of an evaluation may be tried at most.",
  },
  evalCacheSeconds: {
    ...seconds,
    group: "Agents",
    default: 30 * 86_400,
    summary: "How long a result may stand in for a new one in evaluations that ask for the cache.",
  },
} as const satisfies Readonly<Record<string, Setting>>;
