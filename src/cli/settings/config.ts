import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import { parseSetting } from "./parse-setting.ts";
import { type Config, environmentNameOf, flagOf, SETTINGS, type SettingName } from "./settings.ts";

/** The only file that reads the environment. Everything else is handed values. */
export type Environment = Readonly<Record<string, string | undefined>>;

export const CONFIG_FILE = "assay.config.json";

export interface ConfigSources {
  /** Settings given as flags, as the command line has them. */
  readonly flags: Readonly<Partial<Record<SettingName, unknown>>>;
  /** `--config`; without it `ASSAY_CONFIG`, then `assay.config.json` in the working directory if there is one. */
  readonly file?: string | undefined;
  readonly env?: Environment;
  readonly cwd?: string;
}

interface Given {
  readonly value: unknown;
  /** As the complaint names it: `--port`, `ASSAY_PORT` or `"port" in assay.config.json`. */
  readonly where: string;
  readonly relativeTo: string;
}

/**
 * Defaults ← file ← environment ← flags, checked once and frozen. Throws one `unusable_input` that names every
 * problem, so that nobody has to fix them one by one.
 */
export function loadConfig({ flags, file, env = process.env, cwd = process.cwd() }: ConfigSources): Config {
  const problems: string[] = [];
  const fromFile = readConfigFile(file ?? nonEmpty(env["ASSAY_CONFIG"]), cwd, problems);
  const config: Record<string, unknown> = {};
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
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

/** Whether a setting is more than its default. */
export function isSetAnywhere(
  name: SettingName,
  { flags, file, env = process.env, cwd = process.cwd() }: ConfigSources,
): boolean {
  if ((fromFlag(name, flags, cwd) ?? fromEnvironment(name, env, cwd)) !== undefined) return true;
  return readConfigFile(file ?? nonEmpty(env["ASSAY_CONFIG"]), cwd, []).has(name);
}

/** All of it, for programs that are started from here. */
export function ownEnvironment(): Environment {
  return process.env;
}

/** What holds when nothing is set anywhere. */
export function defaultConfig(cwd = process.cwd()): Config {
  const names = Object.keys(SETTINGS) as SettingName[];
  return Object.freeze(Object.fromEntries(names.map((name) => [name, defaultOf(name, cwd)]))) as unknown as Config;
}

/** Whether the environment lets us use colours: https://no-color.org, and terminals that cannot. */
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
  // Set to nothing is how shells and compose files spell "not set".
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
      const meant = closestTo(key, Object.keys(SETTINGS));
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

/** What each setting alone cannot tell. */
function contradictions(config: Config): string[] {
  const problems: string[] = [];
  if (config.leaseRenewMs * 2 > config.leaseMs) {
    problems.push(`leaseRenewMs (${config.leaseRenewMs}) must be at most half of leaseMs (${config.leaseMs})`);
  }
  return problems;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
