import { defined } from "../../protocol/defined.ts";
import { isObject } from "../../protocol/own.ts";
import type { Usage } from "../binding.ts";

/** An agent's report of its own work, in addition to its answer. */
export interface Report {
  readonly usage?: Usage;
  readonly confidence?: number;
}

export type ReadReport =
  | { readonly ok: true; readonly report: Report }
  | { readonly ok: false; readonly problem: string };

/** Every name that a figure goes by: ours, and those of the two APIs whose answers programs pass on. */
const TOKENS = {
  inputTokens: ["inputTokens", "input_tokens", "prompt_tokens"],
  outputTokens: ["outputTokens", "output_tokens", "completion_tokens"],
  cacheReadTokens: ["cacheReadTokens", "cache_read_input_tokens"],
  cacheWriteTokens: ["cacheWriteTokens", "cache_creation_input_tokens"],
} as const;
const COST = ["costUsd", "cost_usd"] as const;

/**
 * Reads a report, whose figures may be in a `usage` of their own. Unknown names are ignored. An invalid figure is a problem:
 * budgets count on it. The provider and the model are the agent's own text, and are visible to all readers of a run.
 */
export function readReport(
  value: unknown,
  from: Pick<Usage, "provider" | "model">,
  scrubText: (text: string) => string,
): ReadReport {
  if (!isObject(value)) return { ok: false, problem: "it is not a JSON object" };
  const nested = value["usage"];
  if (nested !== undefined && !isObject(nested)) return { ok: false, problem: "usage is not an object" };
  const fields = { ...value, ...nested };
  const problems: string[] = [];
  const figure = (names: readonly string[], isFigure: (value: unknown) => boolean, what: string) => {
    const name = names.find((one) => fields[one] !== undefined && fields[one] !== null);
    if (name === undefined) return undefined;
    if (isFigure(fields[name])) return fields[name] as number;
    problems.push(`${name} is not ${what}`);
    return undefined;
  };
  const tokens = (name: keyof typeof TOKENS) => figure(TOKENS[name], isCount, "a count");
  const counts = {
    inputTokens: tokens("inputTokens"),
    outputTokens: tokens("outputTokens"),
    cacheReadTokens: tokens("cacheReadTokens"),
    cacheWriteTokens: tokens("cacheWriteTokens"),
  };
  const costUsd = figure(COST, isAmount, "an amount");
  const confidence = figure(
    ["confidence"],
    (value) => isAmount(value) && (value as number) <= 1,
    "a number from 0 to 1",
  );
  if (problems.length > 0) return { ok: false, problem: problems.join(", ") };

  const name = (key: string, fallback: string) => (isName(fields[key]) ? scrubText(fields[key]) : fallback);
  const isUsage = costUsd !== undefined || Object.values(counts).some((count) => count !== undefined);
  const usage: Usage = {
    provider: name("provider", from.provider),
    model: name("model", from.model),
    inputTokens: counts.inputTokens ?? 0,
    outputTokens: counts.outputTokens ?? 0,
    ...defined({ cacheReadTokens: counts.cacheReadTokens, cacheWriteTokens: counts.cacheWriteTokens, costUsd }),
  };
  return { ok: true, report: { ...(isUsage ? { usage } : {}), ...defined({ confidence }) } };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Larger ones are no prices, and sums of them no numbers. */
const AMOUNT_MAX = 1e9;

function isAmount(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0 && (value as number) <= AMOUNT_MAX;
}
const NAME_CHARACTERS = 200;

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= NAME_CHARACTERS;
}
