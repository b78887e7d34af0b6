import { parsedJson } from "../../formats/json/check-json.ts";
import { defined } from "../../protocol/defined.ts";
import { matches, problemsOf, Type } from "../../protocol/schema.ts";
import { speaksMcp } from "../optional-packages.ts";
import { toolError } from "../tool-surface.ts";
import { usable } from "../usable-value.ts";
import { type ToolOffer, withoutToken } from "./tool-offer.ts";

/** An answer of the gateway: a status and a JSON body, or none. */
export interface GatewayAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface GatewayRequest {
  readonly method: string;
  /** The last part of the path, so that a proxy may add parts before it. */
  readonly resource: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the whole body. Undefined where it is larger than the limit. */
  readonly body: () => Promise<string | undefined>;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
}

/** Characters of the name of a tool that is asked for. */
export const TOOL_NAME_MAX = 512;

const CallRequest = Type.Object(
  { tool: Type.String({ minLength: 1, maxLength: TOOL_NAME_MAX }), arguments: Type.Optional(Type.Unknown()) },
  { additionalProperties: false },
);

const METHODS: Readonly<Record<string, string>> = { tools: "GET", call: "POST", mcp: "POST" };

/** Answers one request of an agent that was offered these tools. */
export async function answerRequest(offer: ToolOffer, request: GatewayRequest): Promise<GatewayAnswer> {
  const { method, resource } = request;
  const wanted = Object.hasOwn(METHODS, resource) ? METHODS[resource] : undefined;
  if (wanted === undefined) return refusal(404, "not_found", "There are /tools, /call and /mcp here.");
  if (method !== wanted) {
    return { ...refusal(405, "method_not_allowed", `Use ${wanted} for /${resource}.`), headers: { allow: wanted } };
  }
  if (resource === "tools") return { status: 200, body: { tools: listed(offer) } };
  const text = await request.body();
  if (text === undefined) return refusal(413, "payload_too_large", "The body is too large.");
  const read = readJson(withoutToken(text, offer.token));
  if ("problem" in read) return refusal(400, "invalid_request", `The body ${read.problem}.`);
  if (resource === "call") return answerCall(offer, read.value, request.signal);
  if (!speaksMcp())
    return refusal(501, "not_installed", "MCP needs a package that this host lacks; use /tools and /call.");
  // Loaded with the first request: most agents never speak MCP.
  const { answerMcp } = await import("./gateway-mcp.ts");
  return answerMcp(offer, read.value, request);
}

export function refusal(status: number, code: string, message: string): GatewayAnswer {
  return { status, body: { error: { code, message } } };
}

function listed({ tools }: ToolOffer) {
  return tools.map(({ name, description, inputSchema }) => ({ name, ...defined({ description, inputSchema }) }));
}

function readJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  const value = parsedJson(text);
  return value === undefined ? { problem: "is not JSON" } : usable(value);
}

async function answerCall(offer: ToolOffer, value: unknown, signal: AbortSignal): Promise<GatewayAnswer> {
  if (!matches(CallRequest, value)) {
    const [first] = problemsOf(CallRequest, value);
    return refusal(400, "invalid_request", `The body${first?.path ?? ""} ${first?.problem ?? "does not match"}.`);
  }
  const result = await offer.call(value.tool, value.arguments ?? {}, signal);
  if ("refusal" in result) return REFUSALS[result.refusal];
  if (result.status === "ok") return { status: 200, body: { result: result.outcome ?? null } };
  // Results of tools are 200, errors too: the request itself was valid.
  return { status: result.status === "forbidden" ? 403 : 200, body: { error: toolError(result) } };
}

export const REFUSALS = {
  too_many_calls: refusal(429, "too_many_calls", "The invocation makes too many calls; wait for the ones under way."),
  offer_ended: refusal(401, "unauthenticated", "The invocation that this token belongs to has ended."),
} as const;
