import { type Guard, hasPrivateHost, type Resolve, systemResolve } from "../../engine/outbound/guard.ts";
import { childEnvironment, type Ours, programEnvironment } from "../../engine/programs/child-environment.ts";
import type { Binding } from "../binding.ts";
import type { ToolGateway } from "../gateway/tool-gateway.ts";
import {
  BASE_URLS,
  chosenAmong,
  DEFAULT_FORMATS,
  MODEL_DEFAULTS,
  type ModelChoice,
  type ModelSettings,
} from "../models/model-settings.ts";
import { PRICES, type PriceTable } from "../models/prices.ts";
import { RETRY_WORLD } from "../retrying.ts";
import type { AgentsFile, ConfiguredBinding } from "./agents-file.ts";
import type { BindingEntry, ModelEntry } from "./agents-file-schema.ts";
import { failed } from "./answers.ts";
import { COMMAND_DEFAULTS, commandBinding } from "./command.ts";
import { HTTP_DEFAULTS, httpBinding } from "./http.ts";
import { MAX_TURNS, modelBinding } from "./model.ts";
import { scriptedBinding } from "./scripted.ts";

export interface BindingsWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Programs inherit the environment without these, instead of the few variables of a server's program. */
  readonly inherits?: Ours;
  /** Scrubs the error output of programs. */
  readonly scrubText: (text: string) => string;
  /** Defaults to the name resolution of the machine. */
  readonly resolve?: Resolve;
  /** Offers tools to programs and endpoints; absent: they are offered none. */
  readonly gateway?: ToolGateway;
}

export interface CalledAgent {
  readonly agentId: string;
  readonly version?: string | undefined;
  readonly modelClass?: string | undefined;
}

export interface Bindings {
  /**
   * The binding of this version for this tenant, else of the agent, else a model of its class. A binding for other tenants is
   * ignored. A chosen model replaces the model of a class. Undefined: not configured.
   */
  bindingFor(agent: CalledAgent, choice: ModelChoice | undefined, tenant: string): Binding | undefined;
  readonly judge: Binding | undefined;
}

/** Makes the bindings of a file, each once: what an agent is called by is the same object from one call to the next. */
export function bindingsOf(file: AgentsFile, world: BindingsWorld): Bindings {
  const prices = [file.prices, PRICES];
  const made = new Map<string, Binding>();
  const once = (name: string, entry: ConfiguredBinding): Binding => {
    const binding = made.get(name) ?? bindingOf(entry, file, prices, world);
    made.set(name, binding);
    return binding;
  };
  return {
    bindingFor: (agent, choice, tenant) => {
      const [name, entry] = configuredFor(file, agent, tenant);
      if (choice === undefined || (entry !== undefined && entry.type !== "model")) return entry && once(name, entry);
      const model = chosenAmong(modelsFor(file, tenant), choice);
      const wanted = [choice.provider, choice.model].filter((part) => part !== undefined).join("/");
      if (model === undefined)
        return unconfigured(
          "model",
          `no agents file has the model ${wanted} that the run asks for, for tenant ${tenant}`,
        );
      const maxTurns = entry?.maxTurns ?? MAX_TURNS;
      return once(`/models/${model}/${maxTurns}`, { type: "model", model, maxTurns });
    },
    judge: file.judge === undefined ? undefined : once("/judge", file.judge),
  };
}

function configuredFor(
  { bindings, modelClasses }: AgentsFile,
  { agentId, version, modelClass = "" }: CalledAgent,
  tenant: string,
): [string, ConfiguredBinding | undefined] {
  for (const name of [`${agentId}@${version}`, agentId]) {
    const entry = bindings.get(name);
    if (entry !== undefined && isFor(entry, tenant)) return [name, entry];
  }
  const model = modelClasses.get(modelClass);
  return [`/modelClasses/${modelClass}`, model === undefined ? undefined : { type: "model", model }];
}

/** The tenant of a host's first key, and of evaluations on one's own machine. */
export const FIRST_TENANT = "default";

/**
 * Whether runs of a tenant may call what is bound, or the tools of a server. A tenant can install a pack under any name and with any
 * allow-list, so the name of an agent or a tool alone must not lead to a program or a key of the operator.
 */
export function isFor({ tenants = [FIRST_TENANT] }: Pick<ConfiguredBinding, "tenants">, tenant: string): boolean {
  return tenants.includes(tenant) || tenants.includes("*");
}

/**
 * The models that a run may choose: all but those that bindings for other tenants only lead to. A choice must not lead to a key that the
 * operator has given to others. Classes are for every tenant, and so are models that no binding names.
 */
function modelsFor({ models, modelClasses, bindings }: AgentsFile, tenant: string): AgentsFile["models"] {
  const bound = [...bindings.values()].filter((one) => one.type === "model");
  const given = new Set([...modelClasses.values(), ...bound.flatMap((one) => (isFor(one, tenant) ? [one.model] : []))]);
  const isOfOthers = (name: string) => !given.has(name) && bound.some(({ model }) => model === name);
  return new Map([...models].filter(([name]) => !isOfOthers(name)));
}

function bindingOf(
  entry: ConfiguredBinding,
  file: AgentsFile,
  prices: readonly PriceTable[],
  world: BindingsWorld,
): Binding {
  switch (entry.type) {
    case "command": {
      const { type, args = [], directory = ".", env, tenants, ...settings } = entry;
      const seen = programEnvironment(world.environment, env);
      if ("missing" in seen) return unconfigured("command", missing(seen.missing));
      const { inherits, environment } = world;
      const variables = inherits === undefined ? seen.variables : childEnvironment(environment, inherits);
      return commandBinding(
        { ...COMMAND_DEFAULTS, ...settings, args, directory },
        { ...world, environment: variables },
      );
    }
    case "http":
      return endpoint(entry, world);
    case "scripted":
      return scriptedBinding(entry.script);
    case "model": {
      const model = file.models.get(entry.model);
      if (model === undefined) return unconfigured("model", `there is no model ${entry.model}`);
      const settings = modelSettings(model, world.environment);
      if ("problem" in settings) return unconfigured("model", settings.problem);
      return modelBinding({ ...settings, maxTurns: entry.maxTurns ?? MAX_TURNS }, prices);
    }
  }
}

function endpoint(
  entry: Extract<BindingEntry, { type: "http" }>,
  { environment, scrubText, resolve = systemResolve, gateway }: BindingsWorld,
): Binding {
  const { type, apiKeyEnv, headersEnv = {}, allowPrivate, tenants, ...settings } = entry;
  const headers: Record<string, string> = {};
  const wanted = [
    ...(apiKeyEnv === undefined ? [] : [["authorization", apiKeyEnv, "Bearer "] as const]),
    ...Object.entries(headersEnv).map(([name, variable]) => [name.toLowerCase(), variable, ""] as const),
  ];
  for (const [name, variable, before] of wanted) {
    const value = environment[variable];
    if (value === undefined || value === "") return unconfigured("http", missing(variable));
    headers[name] = `${before}${value}`;
  }
  // A private address in the file was chosen by the operator; one behind a public name was chosen by the owner of that name.
  const guard: Guard = { allowPrivate: allowPrivate ?? hasPrivateHost(new URL(settings.url)), resolve };
  return httpBinding({ ...HTTP_DEFAULTS, ...settings, headers }, guard, { ...RETRY_WORLD, scrubText }, gateway);
}

/** A model as it is asked, or the variable that is missing. */
function modelSettings(
  entry: ModelEntry,
  environment: BindingsWorld["environment"],
): ModelSettings | { readonly problem: string } {
  const { apiKeyEnv, provider, baseUrl, ...settings } = entry;
  const key = apiKeyEnv === undefined ? undefined : environment[apiKeyEnv];
  if (apiKeyEnv !== undefined && (key === undefined || key === "")) return { problem: missing(apiKeyEnv) };
  return {
    ...MODEL_DEFAULTS,
    providerName: provider,
    format: DEFAULT_FORMATS[provider],
    ...settings,
    provider,
    baseUrl: baseUrl ?? BASE_URLS[provider] ?? "",
    key,
  };
}

function missing(variable: string): string {
  return `the environment has no ${variable}`;
}

function unconfigured(kind: Binding["kind"], problem: string): Binding {
  return { kind, call: async () => failed("agent_not_configured", problem) };
}
