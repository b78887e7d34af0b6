import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterEach, describe, expect, test } from "vitest";
import { toolsOf } from "../../testing/agent-task.ts";
import type { ToolResult, ToolSurface } from "../tool-surface.ts";
import { type GatewaySettings, type OfferedTools, type ToolGateway, toolGateway } from "./tool-gateway.ts";

const NEVER = new AbortController().signal;
const open: ToolGateway[] = [];
afterEach(async () => {
  for (const gateway of open.splice(0)) await gateway.close();
});

function gatewayOf(settings: Partial<GatewaySettings> = {}): ToolGateway {
  const gateway = toolGateway(settings);
  open.push(gateway);
  return gateway;
}

const DESCRIBED = { name: "crm:find", description: "Finds a customer.", inputSchema: { type: "object" } };

function offered(answer: (name: string, args: unknown) => ToolResult, settings: Partial<GatewaySettings> = {}) {
  const { surface, asked } = toolsOf([DESCRIBED, { name: "crm:bare" }], answer);
  return { asked, offer: gatewayOf(settings).offer(surface, NEVER) };
}

const send = (offer: OfferedTools, path: string, init: RequestInit = {}) =>
  fetch(`${offer.url}${path}`, { ...init, headers: { authorization: `Bearer ${offer.token}`, ...init.headers } });
const post = (offer: OfferedTools, body: unknown, path = "/call") =>
  send(offer, path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
const answerTo = async (response: Promise<Response>) => {
  const { status } = await response;
  return [status, await (await response).json()] as const;
};
const refused = (status: number, code: string) => [status, { error: { code, message: expect.any(String) } }];

describe("the tool gateway", () => {
  test("lists the tools of an invocation and answers calls of them", async () => {
    const { asked, offer } = offered((_, args) => ({ status: "ok", outcome: { found: args } }));
    const tools = await offer;
    expect(tools.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await answerTo(send(tools, "/tools"))).toEqual([200, { tools: [DESCRIBED, { name: "crm:bare" }] }]);
    expect(await answerTo(post(tools, { tool: "crm:find", arguments: { id: 7 } }))).toEqual([
      200,
      { result: { found: { id: 7 } } },
    ]);
    expect(await answerTo(post(tools, { tool: "crm:bare" }))).toEqual([200, { result: { found: {} } }]);
    expect(asked).toEqual([
      { name: "crm:find", args: { id: 7 } },
      { name: "crm:bare", args: {} },
    ]);
  });

  test("answers errors of a tool with their code, and a tool outside the list with tool_not_allowed", async () => {
    const { offer } = offered((name) =>
      name === "crm:find"
        ? { status: "error", code: "fixture_missing", error: "there is none" }
        : { status: "rate_limited", error: "slow down" },
    );
    const tools = await offer;
    const error = { code: "fixture_missing", message: "there is none" };
    expect(await answerTo(post(tools, { tool: "crm:find" }))).toEqual([200, { error }]);
    expect(await answerTo(post(tools, { tool: "crm:bare" }))).toEqual(refused(200, "tool_rate_limited"));
    expect(await answerTo(post(tools, { tool: "crm:drop" }))).toEqual(refused(403, "tool_not_allowed"));
  });

  test("answers no token but that of a call under way: missing, guessed, of another call or of one that ended", async () => {
    const gateway = gatewayOf();
    const mine = toolsOf([{ name: "a:mine" }], () => ({ status: "ok", outcome: 1 })).surface;
    const other = toolsOf([{ name: "a:other" }], () => ({ status: "ok", outcome: 2 })).surface;
    const [first, second] = [await gateway.offer(mine, NEVER), await gateway.offer(other, NEVER)];
    expect(first.url).toBe(second.url);
    expect(first.token).toMatch(/^[\w-]{43}$/);
    for (const authorization of ["", "Bearer", "Bearer x", `Basic ${first.token}`, `Bearer ${first.token}x`]) {
      const asked = send(first, "/tools", { headers: { authorization } });
      expect(await answerTo(asked)).toEqual(refused(401, "unauthenticated"));
    }
    expect(await answerTo(send(second, "/tools"))).toEqual([200, { tools: [{ name: "a:other" }] }]);
    await first.withdraw();
    for (const path of ["/tools", "/call", "/mcp", "/other"]) {
      expect(await answerTo(send(first, path))).toEqual(refused(401, "unauthenticated"));
    }
    expect((await send(second, "/tools")).status).toBe(200);
  });

  test.each([
    ["no JSON", "{", 400],
    ["no object", [1], 400],
    ["no tool", { arguments: {} }, 400],
    ["another member", { tool: "crm:find", argument: {} }, 400],
    ["a tool that is no text", { tool: 7 }, 400],
    ["arguments too deep", `{"tool":"crm:find","arguments":${"[".repeat(80)}${"]".repeat(80)}}`, 400],
  ])("refuses a call with %s and reaches no tool", async (_, body, status) => {
    const { asked, offer } = offered(() => ({ status: "ok", outcome: 1 }));
    expect(await answerTo(post(await offer, body))).toEqual(refused(status, "invalid_request"));
    expect(asked).toEqual([]);
  });

  test("refuses other paths, other methods and bodies that are too large", async () => {
    const { offer } = offered(() => ({ status: "ok", outcome: 1 }), { maxBodyBytes: 1000 });
    const tools = await offer;
    expect(await answerTo(send(tools, "/"))).toEqual(refused(404, "not_found"));
    expect(await answerTo(send(tools, "/constructor"))).toEqual(refused(404, "not_found"));
    expect(await answerTo(send(tools, "/call"))).toEqual(refused(405, "method_not_allowed"));
    expect(await answerTo(post(tools, {}, "/tools"))).toEqual(refused(405, "method_not_allowed"));
    const large = { tool: "crm:find", arguments: "x".repeat(2000) };
    expect(await answerTo(post(tools, large))).toEqual(refused(413, "payload_too_large"));
    const huge = "x".repeat(8 * 1024 * 1024);
    expect(await answerTo(post(tools, huge))).toEqual(refused(413, "payload_too_large"));
    expect(await answerTo(post({ ...tools, token: "guessed" }, huge))).toEqual(refused(401, "unauthenticated"));
    // A proxy may put parts of a path before its own.
    expect((await send(tools, "/assay/tools")).status).toBe(200);
  });

  test("bounds the calls of an invocation, at the same time and in all", async () => {
    const waiting: (() => void)[] = [];
    const slow: ToolSurface = {
      tools: [{ name: "a:slow" }],
      call: () => new Promise((resolve) => waiting.push(() => resolve({ status: "ok", outcome: 1 }))),
    };
    const tools = await gatewayOf({ concurrentMax: 1, callsMax: 2 }).offer(slow, NEVER);
    const first = answerTo(post(tools, { tool: "a:slow" }));
    while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(await answerTo(post(tools, { tool: "a:slow" }))).toEqual(refused(429, "too_many_calls"));
    waiting.shift()?.();
    expect(await first).toEqual([200, { result: 1 }]);
    const second = answerTo(post(tools, { tool: "a:slow" }));
    while (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    waiting.shift()?.();
    expect(await second).toEqual([200, { result: 1 }]);
    expect(await answerTo(post(tools, { tool: "a:slow" }))).toEqual(refused(429, "too_many_calls"));
  });

  test("breaks off what is under way when the invocation ends, and waits for it", async () => {
    const events: string[] = [];
    const hanging: ToolSurface = {
      tools: [{ name: "a:hang" }],
      call: (_, __, signal) =>
        new Promise((_resolve, reject) => {
          events.push("called");
          signal.addEventListener("abort", () => {
            events.push("broken off");
            setTimeout(() => {
              events.push("ended");
              reject(signal.reason as Error);
            }, 20);
          });
        }),
    };
    const tools = await gatewayOf().offer(hanging, NEVER);
    const called = answerTo(post(tools, { tool: "a:hang" }));
    while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await tools.withdraw();
    expect(events).toEqual(["called", "broken off", "ended"]);
    expect(await called).toEqual(refused(401, "unauthenticated"));
  });

  test("speaks MCP over HTTP to a client of the protocol", async () => {
    const { asked, offer } = offered((name) =>
      name === "crm:find"
        ? { status: "ok", outcome: { id: 7 } }
        : { status: "error", code: "fixture_missing", error: "there is none" },
    );
    const { url, token } = await offer;
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }) as Transport);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([DESCRIBED, { name: "crm:bare", inputSchema: { type: "object" } }]);
    expect(await client.callTool({ name: "crm:find", arguments: {} })).toMatchObject({
      content: [{ type: "text", text: '{"id":7}' }],
      structuredContent: { id: 7 },
    });
    expect(await client.callTool({ name: "crm:bare" })).toMatchObject({
      isError: true,
      content: [{ text: "fixture_missing: there is none" }],
    });
    expect(await client.callTool({ name: "crm:drop" })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^tool_not_allowed: /) }],
    });
    await client.callTool({ name: "x".repeat(10_000) });
    expect(asked.at(-1)?.name).toHaveLength(512);
    await client.close();
  });

  test("hands no token on: one in the arguments is masked before the tool sees them", async () => {
    const { asked, offer } = offered(() => ({ status: "ok", outcome: 1 }));
    const tools = await offer;
    await post(tools, { tool: "crm:find", arguments: { leaked: tools.token } });
    expect(asked).toEqual([{ name: "crm:find", args: { leaked: "[REDACTED]" } }]);
  });

  test("is at its loopback address for agents of this machine, and at the configured one for others", async () => {
    const bare = gatewayOf();
    for (const url of ["http://127.0.0.1:80/x", "http://localhost:1", "http://[::1]:9/", "http://a.localhost"]) {
      expect(bare.problemFor(url)).toBeUndefined();
    }
    for (const url of ["https://agents.example/x", "http://10.0.0.7", "http://127.0.0.1.example.com"]) {
      expect(bare.problemFor(url)).toContain("--tools-url");
    }
    const { surface } = toolsOf([], () => ({ status: "ok", outcome: 1 }));
    const remote = gatewayOf({ remoteUrl: "https://assay.example/tools" });
    expect(remote.problemFor("https://agents.example/x")).toBeUndefined();
    expect((await remote.offer(surface, NEVER, "https://agents.example/x")).url).toBe("https://assay.example/tools");
    expect((await remote.offer(surface, NEVER, "http://127.0.0.1:1/")).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  test("is not reachable any more once it is closed", async () => {
    const { offer } = offered(() => ({ status: "ok", outcome: 1 }));
    const tools = await offer;
    await open[0]?.close();
    await expect(send(tools, "/tools")).rejects.toThrow();
  });
});
