import { type AgentsFile, loadAgentsFile } from "../../agents/bindings/agents-file.ts";
import { type Bindings, bindingsOf } from "../../agents/bindings/bindings.ts";
import type { ToolGateway } from "../../agents/gateway/tool-gateway.ts";
import { packagesFor, requirePackages } from "../../agents/optional-packages.ts";
import { passedOn } from "../../engine/programs/child-environment.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { type Environment, ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";

const NOTHING: AgentsFile = { models: new Map(), modelClasses: new Map(), bindings: new Map(), prices: {}, mcp: [] };

/**
 * The file that says how agents are called; without one there is nothing in it. Throws `unusable_input` when it cannot be used, or needs packages
 * that are not installed.
 */
export function agentsFileOf({ agents }: Pick<Config, "agents">): AgentsFile {
  if (agents === undefined) return NOTHING;
  const file = loadAgentsFile(agents);
  requirePackages(packagesFor(file), `${agents} names models or MCP servers, which need`);
  return file;
}

/** How agents are called. Of the environment of this process, programs get a few variables and those that their binding names. */
export function agentBindings(
  file: AgentsFile,
  { scrubText }: Pick<Scrubber, "scrubText">,
  environment: Environment = ownEnvironment(),
  gateway?: ToolGateway,
): Bindings {
  return bindingsOf(file, { environment, scrubText, ...(gateway === undefined ? {} : { gateway }) });
}

/** The keys whose variables a file names, as far as they are set. */
export function keysNamedIn(file: AgentsFile, env: Environment): string[] {
  return namedKeysIn(file, env).map(({ value }) => value);
}

const KEY_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;

/** Variables that hold a key by their name; the value of another, such as a mode, is no secret. */
function isKeyName(name: string): boolean {
  return KEY_NAME.test(name);
}

/** The same, each with the variable that it is in. */
export function namedKeysIn(
  { models, bindings, judge, mcp }: AgentsFile,
  env: Environment,
): { readonly id: string; readonly value: string }[] {
  const entries = [...bindings.values(), ...(judge === undefined ? [] : [judge])];
  const variables = [
    ...[...models.values(), ...mcp].map(({ apiKeyEnv }) => apiKeyEnv),
    ...entries.flatMap((entry) =>
      entry.type === "http" ? [entry.apiKeyEnv, ...Object.values(entry.headersEnv ?? {})] : [],
    ),
    ...[...entries, ...mcp].flatMap((entry) => ("env" in entry ? passedOn(entry.env) : [])).filter(isKeyName),
  ];
  return variables.flatMap((id) => {
    const value = id === undefined ? undefined : env[id];
    return id === undefined || value === undefined || value === "" ? [] : [{ id, value }];
  });
}
