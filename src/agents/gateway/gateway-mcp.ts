import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { defined } from "../../protocol/defined.ts";
import { type ToolResult, toolError } from "../tool-surface.ts";
import { type GatewayAnswer, type GatewayRequest, REFUSALS, TOOL_NAME_MAX } from "./gateway-answer.ts";
import type { ToolOffer } from "./tool-offer.ts";

/** Answers one message of MCP over streamable HTTP, without a session: the token names the invocation. */
export async function answerMcp(offer: ToolOffer, message: unknown, request: GatewayRequest): Promise<GatewayAnswer> {
  const server = new Server({ name: "assay-tools", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: offer.tools.map(describedTool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
    // No tool has a name this long; what is kept of a refused one is bounded, as at /call.
    resultOf(await offer.call(params.name.slice(0, TOOL_NAME_MAX), params.arguments ?? {}, request.signal)),
  );
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const asked = new Request("http://127.0.0.1/mcp", { method: "POST", headers: { ...request.headers } });
    const answer = await transport.handleRequest(asked, { parsedBody: message });
    const text = await answer.text();
    return { status: answer.status, ...(text === "" ? {} : { body: JSON.parse(text) as unknown }) };
  } finally {
    await server.close();
  }
}

function describedTool({ name, description, inputSchema }: ToolOffer["tools"][number]) {
  return { name, ...defined({ description }), inputSchema: { ...inputSchema, type: "object" as const } };
}

function resultOf(result: Awaited<ReturnType<ToolOffer["call"]>>): CallToolResult {
  if ("refusal" in result) {
    const { error } = REFUSALS[result.refusal].body as { readonly error: { code: string; message: string } };
    return errorResult(error);
  }
  return result.status === "ok" ? okResult(result) : errorResult(toolError(result));
}

function okResult({ outcome }: Extract<ToolResult, { readonly status: "ok" }>): CallToolResult {
  const text = typeof outcome === "string" ? outcome : JSON.stringify(outcome ?? null);
  const isObject = typeof outcome === "object" && outcome !== null && !Array.isArray(outcome);
  return {
    content: [{ type: "text", text }],
    ...(isObject ? { structuredContent: outcome as Record<string, unknown> } : {}),
  };
}

function errorResult({ code, message }: { readonly code: string; readonly message: string }): CallToolResult {
  return { content: [{ type: "text", text: `${code}: ${message}` }], isError: true };
}
