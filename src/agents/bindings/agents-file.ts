import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { hasPrivateHost } from "../../engine/outbound/guard.ts";
import type { NamedVariables } from "../../engine/programs/child-environment.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/own.ts";
import { matches, type Problem, problemText } from "../../protocol/schema.ts";
import { BASE_URLS } from "../models/model-settings.ts";
import type { PriceTable } from "../models/prices.ts";
import {
  AgentsFileShape,
  BINDINGS,
  type BindingEntry,
  type BindingType,
  type McpServer,
  McpServers,
  ModelEntry,
} from "./agents-file-schema.ts";
import { problemsIf, type ReadScript, readScript, type Script } from "./scripted.ts";

/** A binding as it is configured, with its script where it has one. Paths in it are absolute. */
export type ConfiguredBinding =
  | Exclude<BindingEntry, { type: "scripted" }>
  | { readonly type: "scripted"; readonly script: Script; readonly tenants?: readonly string[] };

export interface AgentsFile {
  readonly models: ReadonlyMap<string, ModelEntry>;
  readonly modelClasses: ReadonlyMap<string, string>;
  /** Bindings by `agentId@version` or `agentId`. */
  readonly bindings: ReadonlyMap<string, ConfiguredBinding>;
  readonly judge?: ConfiguredBinding;
  readonly prices: PriceTable;
  readonly mcp: readonly McpServer[];
}

/** Reads an agents file. Throws one `unusable_input` that names everything that is wrong with it. */
export function loadAgentsFile(path: string): AgentsFile {
  const read = readAgentsFile(path);
  if (read.ok) return read.file;
  const problems = read.problems.map((one) => problemText(one));
  throw new AppError("unusable_input", { problem: `${path} cannot be used: ${problems.join("; ")}`, problems });
}

export type ReadAgentsFile =
  | { readonly ok: true; readonly file: AgentsFile }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Paths inside are relative to the file. */
function readAgentsFile(path: string): ReadAgentsFile {
  const json = jsonFile(path);
  return "problem" in json ? { ok: false, problems: [json] } : parseAgentsFile(json.value, dirname(resolve(path)));
}

/** All sections are checked, also after an error in one. */
export function parseAgentsFile(value: unknown, folder: string): ReadAgentsFile {
  const problems: Problem[] = [...secretsIn(value, ""), ...problemsIf(AgentsFileShape, value)];
  const raw = (isObject(value) ? value : {}) as AgentsFileShape;
  const models = new Map(Object.entries(recordOr(raw.models)));
  const modelClasses = new Map(Object.entries(recordOr(raw.modelClasses)) as [string, string][]);
  const say = (path: string, problem: string | undefined) => {
    if (problem !== undefined) problems.push({ path, problem });
  };

  for (const [name, model] of models) {
    if (matches(ModelEntry, model)) for (const one of modelProblems(model)) say(`/models/${name}`, one);
  }
  const isKnown = (name: string) => (models.has(name) ? undefined : `names model "${name}", which is not in /models`);
  for (const [name, model] of modelClasses) say(`/modelClasses/${name}`, isKnown(model));
  const binding = (path: string, entry: unknown): ConfiguredBinding | undefined => {
    const checked = checkBinding(entry, folder);
    for (const { path: inside, problem } of checked.problems) say(path + inside, problem);
    if (checked.binding?.type === "model") say(`${path}/model`, isKnown(checked.binding.model));
    return checked.binding;
  };
  const bindings = Object.entries(recordOr(raw.bindings)).map(([name, entry]) => {
    const path = `/bindings/${name}`;
    if (!AGENT.test(name)) say(path, "must be named for an agent: agentId or agentId@version");
    return [name, binding(path, entry)] as const;
  });
  const judge = raw.judge === undefined ? undefined : binding("/judge", raw.judge);
  if (judge?.tenants !== undefined)
    say("/judge/tenants", "must be left out: the judge is for the evaluations of every tenant");
  const mcp = matches(McpServers, raw.tools?.mcp) ? raw.tools.mcp : [];
  for (const [i, server] of mcp.entries()) {
    say(`/tools/mcp/${i}`, mcpProblem(server));
    if (mcp.findIndex(({ name }) => name === server.name) < i) say(`/tools/mcp/${i}/name`, "is there twice");
  }
  if (problems.length > 0) return { ok: false, problems };
  const file: AgentsFile = {
    models,
    modelClasses,
    bindings: new Map(bindings as [string, ConfiguredBinding][]),
    ...defined({ judge }),
    prices: raw.prices ?? {},
    mcp,
  };
  return { ok: true, file };
}

function recordOr<T extends object>(value: T | undefined): T {
  return isObject(value) ? value : ({} as T);
}

const AGENT = /^[a-zA-Z][a-zA-Z0-9_.:-]{2,255}(@[0-9A-Za-z.+-]{1,128})?$/;

function modelProblems({ provider, baseUrl, apiKeyEnv, api, retryMs, retryMaxMs }: ModelEntry): string[] {
  const problems: string[] = [];
  if (baseUrl !== undefined) problems.push(...urlProblems("baseUrl", baseUrl));
  else if (BASE_URLS[provider] === undefined) problems.push(`must have "baseUrl", since its provider is ${provider}`);
  // Their packages would look for one in the environment by themselves.
  if (provider !== "openai-compatible" && apiKeyEnv === undefined) {
    problems.push(`must have "apiKeyEnv", the name of the environment variable with the key of ${provider}`);
  }
  if (api !== undefined && provider !== "openai") problems.push('must not have "api", which is for provider openai');
  if (retryMs !== undefined && retryMaxMs !== undefined && retryMs > retryMaxMs) {
    problems.push("must have a retryMs that is not longer than retryMaxMs");
  }
  return problems;
}

function urlProblems(name: string, text: string): string[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return [`must have an http or https URL as ${name}`];
  return url.username === "" && url.password === "" ? [] : [`must have a ${name} without a user name and password`];
}

/** Unencrypted traffic to a public host can be read and changed by every machine on the way. */
function endpointProblems({ url, allowPrivate }: Extract<BindingEntry, { type: "http" }>): string[] {
  const problems = urlProblems("url", url);
  if (problems.length > 0) return problems;
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || (allowPrivate ?? hasPrivateHost(new URL(url)))) return [];
  return [`must have an https URL, or "allowPrivate": true where ${hostname} is a name of your own network`];
}

function mcpProblem({ command, args, env, url }: McpServer): string | undefined {
  if ((command === undefined) === (url === undefined)) return "must have exactly one of command, url";
  if (url !== undefined && (args !== undefined || env !== undefined))
    return "must not have args or env together with url";
  const [own] = ownVariables(env);
  if (own !== undefined) return own;
  return url === undefined ? undefined : urlProblems("url", url)[0];
}

/** Names that begin with `ASSAY_` are reserved for the host: its settings and keys, and the variables of a task. */
function ownVariables(named: NamedVariables = []): string[] {
  const names = Array.isArray(named) ? named : Object.keys(named);
  return names.filter((name) => /^ASSAY_/i.test(name)).map((name) => `must not name ${name}, which is the host's own`);
}

interface CheckedBinding {
  readonly binding?: ConfiguredBinding;
  readonly problems: readonly Problem[];
}

function checkBinding(entry: unknown, folder: string): CheckedBinding {
  const type = (entry as { type?: unknown } | null)?.type;
  if (typeof type !== "string" || !Object.hasOwn(BINDINGS, type)) {
    return { problems: [{ path: "", problem: `must have a type: ${Object.keys(BINDINGS).join(", ")}` }] };
  }
  const problems = problemsIf(BINDINGS[type as BindingType], entry);
  if (problems.length > 0) return { problems };
  const given = entry as BindingEntry;
  switch (given.type) {
    case "command":
      return {
        problems: ownVariables(given.env).map((problem) => ({ path: "/env", problem })),
        binding: { ...given, directory: resolve(folder, given.directory ?? ".") },
      };
    case "http":
      return { problems: endpointProblems(given).map((problem) => ({ path: "", problem })), binding: given };
    case "model":
      return { problems, binding: given };
    case "scripted": {
      const read = scriptOf(given, folder);
      if (!read.ok) return { problems: read.problems };
      const { type, tenants } = given;
      return { problems, binding: { type, script: read.script, ...defined({ tenants }) } };
    }
  }
}

function scriptOf({ file, script }: Extract<BindingEntry, { type: "scripted" }>, folder: string): ReadScript {
  if ((file === undefined) === (script === undefined)) {
    return { ok: false, problems: [{ path: "", problem: "must have exactly one of file, script" }] };
  }
  if (file === undefined) return under("/script", readScript(script));
  const json = jsonFile(resolve(folder, file));
  if ("value" in json) return under(`/file ${file}: `, readScript(json.value));
  return { ok: false, problems: [{ path: "/file", problem: `${file} ${json.problem}` }] };
}

function under(path: string, read: ReadScript): ReadScript {
  if (read.ok) return read;
  return { ok: false, problems: read.problems.map((one) => ({ ...one, path: path + one.path })) };
}

function jsonFile(path: string): { readonly value: unknown } | Problem {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return { path: "", problem: `cannot be read: ${(error as NodeJS.ErrnoException).code}` };
  }
  const value = parsedJson(text.replace(/^\uFEFF/, ""));
  return value === undefined ? { path: "", problem: "is not JSON" } : { value };
}

const { holdsKey } = scrubber();

/** Keys belong in the environment: a file is copied, committed and shown. */
function secretsIn(value: unknown, path: string): Problem[] {
  if (typeof value === "string") {
    const problem = "looks like a secret; keep it in the environment and name the variable here";
    return holdsKey(value) ? [{ path, problem }] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => secretsIn(item, `${path}/${name}`));
}
