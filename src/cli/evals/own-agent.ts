import { basename, resolve } from "node:path";
import type { Agents, InstalledAgent } from "../../agents/agents.ts";
import type { Binding } from "../../agents/binding.ts";
import { type AgentsFile, parseAgentsFile } from "../../agents/bindings/agents-file.ts";
import { bindingsOf, FIRST_TENANT } from "../../agents/bindings/bindings.ts";
import { type AgentFunction, functionBinding } from "../../agents/bindings/function.ts";
import type { ToolGateway } from "../../agents/gateway/tool-gateway.ts";
import { canonicalJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Environment } from "../settings/config.ts";

/** A program or endpoint of the user, which is not installed. */
export type OwnAgent =
  | { readonly type: "command"; readonly program: string; readonly args: readonly string[] }
  | { readonly type: "http"; readonly url: string };

export interface OwnAgentSettings {
  /** The agent that the suite was made for; an id is derived from the program or address otherwise. */
  readonly agentId?: string | undefined;
  readonly version?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface BoundAgent {
  readonly agent: InstalledAgent;
  readonly binding: Binding;
}

const OWN_VERSION = "0.0.0-local";

/** Throws `unusable_input` for an address that cannot be called. */
export function boundAgent(
  own: OwnAgent,
  { agentId = ownId(own), version, timeoutMs }: OwnAgentSettings,
  world: { readonly environment: Environment; readonly gateway?: ToolGateway; scrubText(text: string): string },
): BoundAgent {
  // Read as an agents file, so that the same bindings are refused and the same defaults hold. The user chose the address, so it may be private.
  const reach = own.type === "http" ? { allowPrivate: true } : {};
  const file = { bindings: { [agentId]: { ...own, ...reach, ...defined({ timeoutMs, version }) } } };
  const read = parseAgentsFile(file, resolve("."));
  if (!read.ok) {
    const [first] = read.problems;
    const flag = first?.path.includes("/args/") ? "arg" : own.type;
    throw unusableInput(`--${flag} ${first?.problem ?? "cannot be used"}`);
  }
  const agent = agentNamed(agentId, version ?? OWN_VERSION, own);
  const binding = bindingsOf(read.file, { ...world, inherits: {} }).bindingFor({ agentId }, undefined, FIRST_TENANT);
  if (binding === undefined) throw new Error(`no binding was made for ${agentId}`);
  return { agent, binding };
}

export function boundFunction(agentId: string, run: AgentFunction, version = OWN_VERSION): BoundAgent {
  return { agent: agentNamed(agentId, version, { type: "function" }), binding: functionBinding(run) };
}

/** An id by the name of the program or the host: ids that begin with `local` are of agents that were never published. */
function ownId(own: OwnAgent): string {
  const from = own.type === "command" ? basename([...own.args].reverse().find(isFile) ?? own.program) : hostOf(own.url);
  const name = from
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  return `local.${own.type}.${name === "" ? "agent" : name.slice(0, 100)}`;
}

/** A file name says more about an agent than the interpreter that runs it. */
function isFile(arg: string): boolean {
  return /^[^-].*\.[a-z]{1,4}$/i.test(arg);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : "";
}

function agentNamed(agentId: string, version: string, content: object): InstalledAgent {
  return {
    agentId,
    version,
    packName: "local",
    persona: agentId,
    modelClass: "general",
    systemPrompt: "",
    toolAllowlist: [],
    hasManifest: false,
    contentHash: sha256(canonicalJson({ agentId, version, what: content })),
  };
}

/** The agents of a database, and one that exists for this call only. */
export function withOwnAgent(agents: Agents, { agent, binding }: BoundAgent): Agents {
  return {
    ...agents,
    versionsOf: async (visible, agentId, wanted) =>
      agentId === agent.agentId ? [agent] : agents.versionsOf(visible, agentId, wanted),
    activeVersions: async (visible, agentId) =>
      agentId === agent.agentId ? [] : agents.activeVersions(visible, agentId),
    unnamedVersions: async (visible, agentId) =>
      agentId === agent.agentId ? undefined : agents.unnamedVersions?.(visible, agentId),
    bindingFor: (asked, choice, tenant) =>
      asked === agent || asked.agentId === agent.agentId ? binding : agents.bindingFor(asked, choice, tenant),
  };
}

/** The agents of a database, and those that the agents file binds although no pack installed them. */
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
