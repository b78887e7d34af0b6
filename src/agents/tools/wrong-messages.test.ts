import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { json } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { MCP_DEFAULTS } from "./mcp-connection.ts";
import { type McpTools, mcpTools } from "./mcp-tools.ts";

const NEVER = new AbortController().signal;
const TOOL = { name: "t", inputSchema: { type: "object" } };
const running: (McpTools | Server)[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

interface Asked {
  readonly id?: number;
  readonly method: string;
}

/** A server that answers as told, otherwise as it should, and the longest text that was searched for secrets because of it. */
async function serverWith(answers: Readonly<Record<string, object>>) {
  const right: Readonly<Record<string, object>> = {
    initialize: {
      result: { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    },
    "tools/list": { result: { tools: [TOOL] } },
    "tools/call": { result: { content: [{ type: "text", text: "fine" }] } },
  };
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method } = (await json(request)) as Asked;
    if (id === undefined) return response.writeHead(202).end();
    const answer = { jsonrpc: "2.0", id, ...(answers[method] ?? right[method]) };
    return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
  running.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const searched = { most: 0 };
  const scrubText = (text: string) => {
    searched.most = Math.max(searched.most, text.length);
    return text;
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const world = { environment: {}, directory: tmpdir(), scrubText, version: "1" };
  const tools = mcpTools([{ name: "s", url, tenants: ["*"] }], world, MCP_DEFAULTS);
  running.unshift(tools);
  return { searched, surface: () => tools.toolsFor({ toolAllowlist: ["mcp:s/t"] }, NEVER, "t1") };
}

const many = <T>(one: T) => Array.from({ length: 5_000 }, () => one);

test.each([
  ["with thousands of wrong parts", { result: { content: many({ type: 7 }) } }, "its result is none"],
  ["with parts that are none", { result: { content: many(null) } }, "its result is none"],
  ["with more values than one may have", { result: { content: many(Array(30).fill(1)) } }, "more than 100000 values"],
  [
    "that is larger than is read in one go",
    { result: { content: [], _meta: { text: "x".repeat(3_000_000) } } },
    "larger than 2097152 bytes",
  ],
  ["with a reason without end", { error: { code: 1, message: "no ".repeat(500_000) } }, "more than 8192 characters"],
])("a result of an MCP server %s is refused in a few words", async (_, answer, reason) => {
  const { surface, searched } = await serverWith({ "tools/call": answer });
  const result = await (await surface()).call("mcp:s/t", {}, NEVER);
  expect(result).toEqual({ status: "error", error: expect.stringContaining(reason) });
  expect(searched.most).toBeLessThan(10_000);
});

test.each([
  ["tools/list", { result: { tools: [TOOL, ...many({ name: 7 })] } }, "a tool that is none"],
  [
    "tools/list",
    { result: { tools: [{ ...TOOL, inputSchema: { type: "object", required: many(1) } }] } },
    "a tool that is none",
  ],
  ["tools/list", { result: { tools: [{ ...TOOL, icons: many(1) }] } }, "a tool that is none"],
  [
    "initialize",
    { result: { protocolVersion: "2025-03-26", serverInfo: { icons: many(1) } } },
    "more than 1000 values",
  ],
])("what an MCP server says wrong of itself is refused in a few words (%s)", async (method, answer, reason) => {
  const { surface, searched } = await serverWith({ [method]: answer });
  await expect(surface()).rejects.toThrow(reason);
  expect(searched.most).toBeLessThan(10_000);
});
