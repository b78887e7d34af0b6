import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import type { Agents } from "../../agents/agents.ts";
import type { Binding } from "../../agents/binding.ts";
import { bindingsOf, FIRST_TENANT } from "../../agents/bindings.ts";
import { type AgentsFile, parseAgentsFile } from "../../agents/bindings-file.ts";
import type { ToolGateway } from "../../agents/gateway/tool-gateway.ts";
import type { InstalledAgent } from "../../agents/installed-agent.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Environment } from "../settings/config.ts";

/** Somebody's program or endpoint, which nobody installed. */
export type OwnAgent =
  | { readonly type: "command"; readonly program: string; readonly args: readonly string[] }
  | { readonly type: "http"; readonly url: string };

export interface OwnAgentSettings {
  /** In place of a name of its own: the agent that the suite was made for. */
  readonly agentId?: string | undefined;
  readonly version?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface BoundAgent {
  readonly agent: InstalledAgent;
  readonly binding: Binding;
}

export const OWN_VERSION = "0.0.0-local";

/** Throws `unusable_input` for an address that cannot be called. */
export function boundAgent(
  own: OwnAgent,
  { agentId = ownId(own), version, timeoutMs }: OwnAgentSettings,
  world: { readonly environment: Environment; readonly gateway?: ToolGateway; scrubText(text: string): string },
): BoundAgent {
  const timeout = timeoutMs === undefined ? {} : { timeoutMs };
  const named = version === undefined ? {} : { version };
  // Through the same door as the bindings of a file, so that the same is refused and the same defaults hold.
  // Whoever types an address means it, wherever it is.
  const meant = own.type === "http" ? { allowPrivate: true } : {};
  const file = { bindings: { [agentId]: { ...own, ...timeout, ...named, ...meant } } };
  const read = parseAgentsFile(file, resolve("."));
  if (!read.ok) {
    const [first] = read.problems;
    const flag = first?.path.includes("/args/") ? "arg" : own.type;
    throw new AppError("unusable_input", { problem: `--${flag} ${first?.problem ?? "cannot be used"}` });
  }
  const agent = agentNamed(agentId, version ?? OWN_VERSION, own);
  const binding = bindingsOf(read.file, { ...world, inherits: {} }).bindingFor({ agentId }, undefined, FIRST_TENANT);
  if (binding === undefined) throw new Error(`no binding was made for ${agentId}`);
  return { agent, binding };
}

/** As agents are named here: what begins with `local` was never published. */
function ownId(own: OwnAgent): string {
  const from = own.type === "command" ? basename([...own.args].reverse().find(isFile) ?? own.program) : hostOf(own.url);
  const name = from
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  return `local.${own.type}.${name === "" ? "agent" : name.slice(0, 100)}`;
}

/** What says more than the interpreter that runs it. */
function isFile(arg: string): boolean {
  return /^[^-].*\.[a-z]{1,4}$/i.test(arg);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

function agentNamed(agentId: string, version: string, what: object): InstalledAgent {
  return {
    agentId,
    version,
    packName: "local",
    persona: agentId,
    modelClass: "general",
    systemPrompt: "",
    toolAllowlist: [],
    hasManifest: false,
    contentHash: createHash("sha256").update(canonicalJson({ agentId, version, what })).digest("hex"),
  };
}

/** The agents of a database, and beside them one that is there for this call. */
export function withOwnAgent(agents: Agents, { agent, binding }: BoundAgent): Agents {
  return {
    ...agents,
    versionsOf: async (visible, agentId) => (agentId === agent.agentId ? [agent] : agents.versionsOf(visible, agentId)),
    activeVersions: async (visible, agentId) =>
      agentId === agent.agentId ? [] : agents.activeVersions(visible, agentId),
    unnamedVersions: async (visible, agentId) =>
      agentId === agent.agentId ? undefined : agents.unnamedVersions?.(visible, agentId),
    bindingFor: (asked, choice, tenant) =>
      asked === agent || asked.agentId === agent.agentId ? binding : agents.bindingFor(asked, choice, tenant),
  };
}

/** And those that the agents file says how to call, although no pack brought them. */
export function withBoundAgents(agents: Agents, { bindings }: AgentsFile): Agents {
  return {
    ...agents,
    versionsOf: async (visible, agentId) => {
      const installed = await agents.versionsOf(visible, agentId);
      const isBound = [...bindings.keys()].some((name) => name.split("@")[0] === agentId);
      return installed.length > 0 || !isBound ? installed : versionsBound(agentId, bindings);
    },
  };
}

function versionsBound(agentId: string, bindings: AgentsFile["bindings"]): InstalledAgent[] {
  return [...bindings].flatMap(([name, entry]) => {
    const [id, version = OWN_VERSION] = name.split("@");
    return id === agentId ? [agentNamed(agentId, version, JSON.parse(JSON.stringify(entry)))] : [];
  });
}
