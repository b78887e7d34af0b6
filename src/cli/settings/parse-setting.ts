import { resolve } from "node:path";
import { closestTo } from "../../protocol/closest-to.ts";
import type { Setting } from "./setting.ts";
import { otlpHeaders, otlpUrl, parseReviewers, parseTokenKeys, parseTrustedRelays } from "./setting-formats.ts";
import { type SettingName, settingNamed } from "./settings.ts";

/**
 * The value of a setting as it was written: text from flags and environment, JSON from the file. Throws a
 * plain Error that continues a sentence beginning with the setting's name. Never repeats a secret.
 */
export function parseSetting(name: SettingName, raw: unknown, relativeTo: string): unknown {
  const setting = settingNamed(name);
  switch (setting.type) {
    case "integer":
      return parseInteger(setting, raw);
    case "flag":
      return parseFlag(raw);
    case "choice":
      return oneOf(setting.choices, text(raw));
    case "names":
      return list(raw).map((item) => oneOf(setting.choices, item));
    case "path":
      return resolve(relativeTo, text(raw));
    case "paths":
      return list(raw).map((item) => resolve(relativeTo, item));
    case "reviewers":
      return parseReviewers(raw, relativeTo);
    case "text":
      return FORMATS[name]?.(text(raw)) ?? text(raw);
  }
}

function parseInteger({ min, max, unit }: Extract<Setting, { type: "integer" }>, raw: unknown): number {
  const value = typeof raw === "string" && /^-?\d+$/.test(raw) ? Number(raw) : raw;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const measure = unit === undefined ? "" : ` (${unit})`;
  throw new Error(`must be a whole number from ${min} to ${max}${measure}, not ${shown(raw)}`);
}

function parseFlag(raw: unknown): boolean {
  if (raw === true || raw === "true" || raw === "1") return true;
  if (raw === false || raw === "false" || raw === "0") return false;
  throw new Error(`must be true or false, not ${shown(raw)}`);
}

type Format = (value: string) => string;

/** Texts of a format of their own. */
const FORMATS: Partial<Readonly<Record<SettingName, Format>>> = {
  url: (value) => baseUrl(withoutCredentials(value)),
  publicUrl: baseUrl,
  databaseUrl,
  tokenKeys: checkedBy(parseTokenKeys),
  trustedRelays: checkedBy(parseTrustedRelays),
  otlpEndpoint: checkedBy(otlpUrl),
  otlpHeaders: checkedBy(otlpHeaders),
  maxCostUsdPerSuite: dollars,
  reviewModelUrl: modelUrl,
  reviewModelKeyEnv: variableName,
};

function checkedBy(parse: (value: string) => unknown): Format {
  return (value) => {
    parse(value);
    return value;
  };
}

/** An address is shown and kept in files. A value that may hold a secret is not repeated in messages either. */
function withoutCredentials(value: string): string {
  const { username, password } = URL.canParse(value) ? new URL(value) : { username: "", password: "" };
  if (username === "" && password === "") return value;
  throw new Error("must be an address without a user or password; the key goes into ASSAY_KEY or --key");
}

function baseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const address = url?.href.replace(/\/+$/, "") ?? "";
  if (address.endsWith("/v1")) throw new Error(`must be the address without /v1, not ${shown(value)}`);
  if (url?.protocol === "http:" || url?.protocol === "https:") return address;
  throw new Error(`must be an address such as http://127.0.0.1:4100, not ${shown(value)}`);
}

function modelUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (isWeb && url.username === "" && url.password === "" && url.search === "" && url.hash === "") return value;
  throw new Error("must be an address such as http://127.0.0.1:11434/v1, without a user, password or query");
}

function dollars(value: string): string {
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return value;
  throw new Error(`must be an amount in US dollars such as 2.50, not ${shown(value)}`);
}

/** Not repeated: a key is easily written where its name belongs. */
function variableName(value: string): string {
  if (/^[A-Za-z_]\w*$/.test(value)) return value;
  throw new Error("must be the name of an environment variable, not a key itself");
}

function databaseUrl(value: string): string {
  if (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value)) return value;
  throw new Error("must look like postgres://user:password@host:5432/database");
}

function oneOf(choices: readonly string[], given: string): string {
  if (choices.includes(given)) return given;
  const meant = closestTo(given, choices);
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  throw new Error(`must be one of ${choices.join(", ")}, not ${shown(given)}${hint}`);
}

function text(raw: unknown): string {
  if (typeof raw === "string" && raw !== "") return raw;
  throw new Error("must be a text that is not empty");
}

/** A JSON array, a comma-separated text, or a repeated flag whose texts may be comma-separated themselves. */
function list(raw: unknown): string[] {
  const items = (Array.isArray(raw) ? raw : [raw]).map(text);
  return items
    .flatMap((item) => item.split(","))
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function shown(raw: unknown): string {
  return (JSON.stringify(raw) ?? "nothing").slice(0, 60);
}
