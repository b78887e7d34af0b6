import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import { parseSetting } from "./parse-setting.ts";
import { type Config, environmentNameOf, flagOf, SETTING_NAMES, SETTINGS, type SettingName } from "./settings.ts";

/** The only file that reads the environment. Every other one is given values. */
export type Environment = Readonly<Record<string, string | undefined>>;

const CONFIG_FILE = "assay.config.json";

export interface ConfigSources {
  /** Settings given as flags, as the command line has them. */
  readonly flags: Readonly<Partial<Record<SettingName, unknown>>>;
  /** `--config`; without it `ASSAY_CONFIG`, then `assay.config.json` in the working directory if there is one. */
  readonly file?: string | undefined;
  readonly env?: Environment | undefined;
  readonly cwd?: string | undefined;
}

interface Given {
  readonly value: unknown;
  /** As errors name it: `--port`, `ASSAY_PORT` or `"port" in assay.config.json`. */
  readonly where: string;
  readonly relativeTo: string;
}

/**
 * Defaults ← file ← environment ← flags, checked once and frozen. Throws one `unusable_input` that names every problem, so that they
 * need not be mended one by one.
 */
export function loadConfig({ flags, file, env = process.env, cwd = process.cwd() }: ConfigSources): Config {
  const problems: string[] = [];
  const fromFile = readConfigFile(file ?? nonEmpty(env["ASSAY_CONFIG"]), cwd, problems);
  const config: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const given = fromFlag(name, flags, cwd) ?? fromEnvironment(name, env, cwd) ?? fromFile.get(name);
    try {
      config[name] = given ? parseSetting(name, given.value, given.relativeTo) : defaultOf(name, cwd);
    } catch (error) {
      problems.push(`${given?.where} ${error instanceof Error ? error.message : error}`);
    }
  }
  if (problems.length === 0) problems.push(...contradictions(config as Config));
  if (problems.length > 0) throw new AppError("unusable_input", { problem: problems.join("; "), problems });
  return Object.freeze(config) as Config;
}

/** Whether a setting is given anywhere, and not only its default. */
export function isSetAnywhere(
  name: SettingName,
  { flags, file, env = process.env, cwd = process.cwd() }: ConfigSources,
): boolean {
  if ((fromFlag(name, flags, cwd) ?? fromEnvironment(name, env, cwd)) !== undefined) return true;
  return readConfigFile(file ?? nonEmpty(env["ASSAY_CONFIG"]), cwd, []).has(name);
}

/** The whole environment, for programs that are started from here. */
export function ownEnvironment(): Environment {
  return process.env;
}

/** The variables of an environment without those of secret settings, for programs that are not part of Assay. */
export function withoutSecrets(env: Environment): Record<string, string | undefined> {
  const secrets = SETTING_NAMES.filter((name) => "secret" in SETTINGS[name]).map(environmentNameOf);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.includes(name)));
}

/** The settings when nothing is set anywhere. */
export function defaultConfig(cwd = process.cwd()): Config {
  return Object.freeze(Object.fromEntries(SETTING_NAMES.map((name) => [name, defaultOf(name, cwd)]))) as Config;
}

/** Whether the environment allows colours: https://no-color.org, and terminals that have none. */
export function coloursWanted(env: Environment = process.env): boolean {
  return !nonEmpty(env["NO_COLOR"]) && env["TERM"] !== "dumb";
}

function fromFlag(name: SettingName, flags: ConfigSources["flags"], cwd: string): Given | undefined {
  return flags[name] === undefined ? undefined : { value: flags[name], where: flagOf(name), relativeTo: cwd };
}

function fromEnvironment(name: SettingName, env: Environment, cwd: string): Given | undefined {
  const where = environmentNameOf(name);
  // Variable ASSAY_TOOLS_URL with a token offers tools to this process as the program of an agent; it is no setting then.
  if (name === "toolsUrl" && nonEmpty(env["ASSAY_TOOLS_TOKEN"]) !== undefined) return undefined;
  // Shells and compose files write "not set" as an empty text.
  const value = nonEmpty(env[where]);
  return value === undefined ? undefined : { value, where, relativeTo: cwd };
}

function readConfigFile(named: string | undefined, cwd: string, problems: string[]): Map<SettingName, Given> {
  const path = resolve(cwd, named ?? CONFIG_FILE);
  const shown = named ?? CONFIG_FILE;
  const found = new Map<SettingName, Given>();
  const content = readJsonObject(path, shown, named !== undefined, problems);
  for (const [key, value] of Object.entries(content)) {
    if (Object.hasOwn(SETTINGS, key)) {
      found.set(key as SettingName, { value, where: `"${key}" in ${shown}`, relativeTo: dirname(path) });
    } else if (key !== "$schema") {
      const meant = closestTo(key, SETTING_NAMES);
      problems.push(`${shown} has an unknown key "${key}"${meant === undefined ? "" : `; did you mean "${meant}"?`}`);
    }
  }
  return found;
}

function readJsonObject(path: string, shown: string, required: boolean, problems: string[]): object {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (required || code !== "ENOENT") problems.push(`the config file ${shown} cannot be read: ${message}`);
    return {};
  }
  try {
    const content: unknown = JSON.parse(text);
    if (typeof content === "object" && content !== null && !Array.isArray(content)) return content;
    problems.push(`${shown} must hold a JSON object`);
  } catch (error) {
    problems.push(`${shown} is not JSON: ${(error as Error).message}`);
  }
  return {};
}

function defaultOf(name: SettingName, cwd: string): unknown {
  const value: unknown = (SETTINGS[name] as { default?: unknown }).default;
  return value === undefined ? undefined : parseSetting(name, value, cwd);
}

/** Problems that no setting has alone. */
function contradictions({ leaseRenewMs, leaseMs }: Config): string[] {
  if (leaseRenewMs * 2 <= leaseMs) return [];
  return [`leaseRenewMs (${leaseRenewMs}) must be at most half of leaseMs (${leaseMs})`];
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** Variables that are not settings: the name of the config file, and those that programs are given by Assay. */
const OTHER_VARIABLES = [
  "ASSAY_CONFIG",
  "ASSAY_TASK_ID",
  "ASSAY_RUN_ID",
  "ASSAY_TRIAL",
  "ASSAY_TOOLS_URL",
  "ASSAY_TOOLS_TOKEN",
  "ASSAY_TAPE",
  "ASSAY_PROCESS_TAPE",
];

/** Beginnings of names: marks of started programs, and variables that control tests and benchmarks. */
const VARIABLE_FAMILIES = ["ASSAY_STARTED_", "ASSAY_TEST_", "ASSAY_BENCH_"];

/**
 * A warning for each variable that looks like a setting and is none. `named` are variables that a setting names, such as the one
 * with a model's key. Never with a value: it may be a secret.
 */
export function unknownVariables(env: Environment, named: readonly (string | undefined)[] = []): string[] {
  const settings = SETTING_NAMES.map(environmentNameOf);
  const known = new Set<string | undefined>([...settings, ...OTHER_VARIABLES, ...named]);
  const isKnown = (name: string) => known.has(name) || VARIABLE_FAMILIES.some((family) => name.startsWith(family));
  const unknown = Object.keys(env).filter((name) => name.startsWith("ASSAY_") && !isKnown(name));
  return unknown.sort().map((name) => {
    const nearest = closestTo(name, [...settings, "ASSAY_CONFIG"]);
    const next = nearest === undefined ? "docs/configuration.md lists the settings." : `Did you mean ${nearest}?`;
    return `${name} is no setting of Assay and was ignored. ${next}`;
  });
}

/** Names of variables in an agents file, such as that of a model's key. A file that cannot be read is refused where it is used. */
export function variablesIn(file: string | undefined): string[] {
  if (file === undefined) return [];
  try {
    return [...readFileSync(file, "utf8").matchAll(/"(ASSAY_\w+)"/g)].map(([, name = ""]) => name);
  } catch {
    return [];
  }
}
