import { createHash } from "node:crypto";
import { isObject } from "../../protocol/own.ts";
import { canonicalJson } from "../json/canonical-json.ts";

const RECIPE = "openwop-semantic-request-v2";

/** The parts of a request that determine the model's answer; transport options do not. */
const MEANING = [
  "messages",
  "tools",
  "temperature",
  "topP",
  "topK",
  "responseFormat",
  "maxOutputTokens",
  "stop",
  "seed",
  "safetySettings",
] as const;

/** One key for all requests of a model with the same meaning, on every host. Tenants share keys: a cache must separate tenants itself. */
export function llmCacheKey(call: Readonly<Record<string, unknown>>): string {
  const request = isObject(call["request"]) ? call["request"] : call;
  const meant = MEANING.flatMap((name) => {
    const value = name === "tools" ? sortedTools(request[name]) : request[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const outer = ["provider", "model", "providerOptions"].flatMap((name) =>
    call[name] === undefined ? [] : [[name, call[name]] as const],
  );
  const text = canonicalJson({ recipe: RECIPE, ...Object.fromEntries(outer), request: Object.fromEntries(meant) });
  return createHash("sha256").update(text).digest("hex");
}

function sortedTools(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  const nameOf = (tool: unknown) => (isObject(tool) && typeof tool["name"] === "string" ? tool["name"] : "");
  return [...tools].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
}
