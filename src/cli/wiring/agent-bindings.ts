import { type AgentsFile, loadAgentsFile } from "../../agents/bindings/agents-file.ts";
import { type Bindings, bindingsOf } from "../../agents/bindings/bindings.ts";
import type { ToolGateway } from "../../agents/gateway/tool-gateway.ts";
import { packagesFor, requirePackages } from "../../agents/optional-packages.ts";
import { passedOn } from "../../engine/programs/child-environment.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { type Environment, ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";

const EMPTY: AgentsFile = { models: new Map(), modelClasses: new Map(), bindings: new Map(), prices: {}, mcp: [] };

/** The agents file of the settings; an empty one without the setting. Throws `unusable_input` when it is not valid, or needs packages that are not installed. */
export function agentsFileOf({ agents }: Pick<Config, "agents">): AgentsFile {
  if (agents === undefined) return EMPTY;
  const file = loadAgentsFile(agents);
  requirePackages(packagesFor(file), `${agents} names models or MCP servers, which need`);
  return file;
}

/** The bindings of agents. Programs get a few variables of the environment, and those that their binding names. */
export function agentBindings(
  file: AgentsFile,
  { scrubText }: Pick<Scrubber, "scrubText">,
  environment: Environment = ownEnvironment(),
  gateway?: ToolGateway,
): Bindings {
  return bindingsOf(file, { environment, scrubText, ...defined({ gateway }) });
}

/** The keys in the variables that an agents file names, without those that are not set. */
export function keysNamedIn(file: AgentsFile, env: Environment): string[] {
  return namedKeysIn(file, env).map(({ value }) => value);
}

const KEY_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;

/** The same keys with the names of their variables. Of variables that are passed on, only those named like a key count: a mode is not a secret. */
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
    ...[...entries, ...mcp]
      .flatMap((entry) => ("env" in entry ? passedOn(entry.env) : []))
      .filter((name) => KEY_NAME.test(name)),
  ];
  return variables.flatMap((id) => {
    const value = id === undefined ? undefined : env[id];
    return id === undefined || value === undefined || value === "" ? [] : [{ id, value }];
  });
}
