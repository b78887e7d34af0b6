import { readFileSync } from "node:fs";
import { LongScrubs } from "../../engine/secrets/long-scrubs.ts";
import { KnownValues } from "../../formats/secrets/known-values.ts";
import { loadRuleSet } from "../../formats/secrets/rule-set.ts";
import { type Scrubber, scrubber } from "../../formats/secrets/scrub.ts";
import { type Environment, ownEnvironment } from "../settings/config.ts";
import { otlpHeaders, parseTokenKeys } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";

/** Removes secrets from everything that this process writes, starting with its first log line. */
export interface ProcessScrubber extends Scrubber {
  keep(secret: string): void;
  /** All secrets that it knows, for other threads of this process. */
  known(): readonly string[];
}

export async function processScrubber(config: Config, env: Environment = ownEnvironment()): Promise<ProcessScrubber> {
  const secrets = await knownSecrets(config, env);
  const known = new KnownValues(secrets);
  const long = new LongScrubs();
  return {
    ...scrubber({ known, more: await loadRuleSet() }),
    scrubLong: (text) => long.scrub(text, secrets),
    keep(secret) {
      secrets.push(secret);
      known.set(secrets);
    },
    known: () => secrets,
  };
}

/**
 * The secrets in the settings of this process. Secrets of tenants, such as those that sign webhooks, are not among them: a word that one
 * tenant declares a secret would be removed from the texts of all others, who could find out the secret that way.
 */
async function knownSecrets(config: Config, env: Environment): Promise<string[]> {
  const { databaseUrl, tokenKeys, otlpHeaders: headers, agents, keys, auditKey } = config;
  const settings = [config.key, config.auditRootSecret, config.canarySecret, env[config.reviewModelKeyEnv]];
  const found = [
    settings,
    databaseUrl && [databaseUrl, ...(await orNone(() => passwordsOf(databaseUrl)))],
    tokenKeys && (await orNone(() => parseTokenKeys(tokenKeys).map(({ secret }) => secret))),
    headers && (await orNone(() => Object.values(otlpHeaders(headers)))),
    agents && (await orNone(() => keysOfAgents(config, env))),
    keys && (await orNone(() => keysIn(keys))),
    auditKey && (await orNone(() => linesOf(readFileSync(auditKey, "utf8")))),
  ];
  return found.flatMap((secrets) => secrets || []).flatMap((secret) => secret || []);
}

async function keysOfAgents(config: Config, env: Environment): Promise<string[]> {
  const { agentsFileOf, keysNamedIn } = await import("./agent-bindings.ts");
  return keysNamedIn(agentsFileOf(config), env);
}

async function keysIn(file: string): Promise<string[]> {
  const { readKeyFile } = await import("./key-file.ts");
  return readKeyFile(file).map(({ key }) => key);
}

/** The password as it is encoded in the address, and decoded. */
function passwordsOf(url: string): string[] {
  const { password } = new URL(url);
  return [password, decodeURIComponent(password)];
}

/** The lines of a PEM file between its first and last: a key without these is still a key. */
function linesOf(pem: string): string[] {
  return pem.split(/\s*\n/).filter((line) => !line.startsWith("-----"));
}

/** No secrets where reading fails: the user of the setting reports the error. */
async function orNone(read: () => string[] | Promise<string[]>): Promise<string[]> {
  try {
    return await read();
  } catch {
    return [];
  }
}
