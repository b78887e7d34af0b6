import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { mcpProgram } from "../../testing/mcp-program.ts";
import { MCP_DEFAULTS, type McpSettings, type McpWorld } from "./mcp-connection.ts";
import { type McpTools, mcpTools } from "./mcp-tools.ts";

const NEVER = new AbortController().signal;
const running: (McpTools | Server)[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

const world: McpWorld = {
  environment: { PATH: process.env["PATH"], ASSAY_KEY: "a-key-of-assay", TOKEN: "the-key", MODEL_KEY: "of-a-model" },
  directory: tmpdir(),
  scrubText: (text) => text,
  version: "1",
};

function local(settings: Partial<McpSettings> = {}) {
  const { entry, lines } = mcpProgram();
  const tools = mcpTools([entry], world, { ...MCP_DEFAULTS, ...settings });
  running.push(tools);
  const of = (...allowed: string[]) =>
    tools.toolsFor({ toolAllowlist: allowed.map((name) => `mcp:box/${name}`) }, NEVER, "default");
  return { tools, of, lines };
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
async function eventually(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(holds()).toBe(true);
}

describe("tools of an MCP server", () => {
  test("are those that are allowed and there, and give what they give", async () => {
    const { of, lines } = local();
    const { tools, call } = await of("echo", "fail", "value", "unheard-of");
    expect(tools).toMatchObject([
      { name: "mcp:box/echo", description: "does echo", transport: "mcp", inputSchema: { type: "object" } },
      { name: "mcp:box/fail" },
      { name: "mcp:box/value" },
    ]);
    expect(await call("mcp:box/echo", { text: "hi" }, NEVER)).toEqual({ status: "ok", outcome: "you said hi" });
    expect(await call("mcp:box/value", {}, NEVER)).toEqual({ status: "ok", outcome: { n: 7 } });
    expect(await call("mcp:box/fail", {}, NEVER)).toEqual({ status: "error", error: "it broke" });
    expect((await call("mcp:box/hang", {}, NEVER)).status).toBe("error");
    expect((await call("mcp:box/echo", "text", NEVER)).status).toBe("error");
    await of("echo");
    // One process for all of it, which knows its own settings and none of Assay's keys.
    expect(lines()).toEqual([expect.stringMatching(/^started \d+ no key blue$/)]);
  });

  test("are for the tenants that the server names, and for the first one where it names none", async () => {
    const { tools, lines } = local();
    const toolAllowlist = ["mcp:box/echo"];
    await expect(tools.toolsFor({ toolAllowlist }, NEVER, "other")).rejects.toThrow(
      /no MCP server box .* tenant other/,
    );
    const { call } = await tools.toolsFor({ toolAllowlist, hasManifest: false }, NEVER, "other");
    expect(await call("mcp:box/echo", { text: "hi" }, NEVER)).toMatchObject({ status: "error" });
    expect(lines()).toEqual([]);
    const wide = mcpTools([{ ...mcpProgram().entry, tenants: ["*"] }], world);
    running.push(wide);
    expect((await wide.toolsFor({ toolAllowlist }, NEVER, "other")).tools).toHaveLength(1);
  });

  test("start no server for an agent that names none of them", async () => {
    const { tools, lines } = local();
    const surface = await tools.toolsFor({ toolAllowlist: ["memory:list", "openwop:other"] }, NEVER, "default");
    expect(surface.tools).toEqual([]);
    expect(lines()).toEqual([]);
  });

  test("give no more than is taken, and no longer than there is time", async () => {
    const { of, lines } = local({ callMs: 200 });
    const { call } = await of("flood", "hang");
    expect(await call("mcp:box/flood", {}, NEVER)).toMatchObject({ status: "error", error: /at most 262144/ });
    expect((await call("mcp:box/hang", {}, NEVER)).status).toBe("error");
    await eventually(() => lines().includes("told to stop"));
  });

  test("are told to stop when nobody wants the answer any more", async () => {
    const { of, lines } = local();
    const { call } = await of("hang");
    const stop = new AbortController();
    const reason = new Error("cancelled");
    const called = call("mcp:box/hang", {}, stop.signal);
    await eventually(() => lines().includes("hanging"));
    stop.abort(reason);
    await expect(called).rejects.toBe(reason);
    await eventually(() => lines().includes("told to stop"));
  });

  test("are there again after the server was lost", async () => {
    const { of, lines } = local();
    const { call } = await of("die", "echo");
    expect((await call("mcp:box/die", {}, NEVER)).status).toBe("error");
    await eventually(() => lines().length === 1);
    expect((await call("mcp:box/echo", { text: "back" }, NEVER)).status).toBe("ok");
    expect(lines()).toHaveLength(2);
  });

  test("end with the process that uses them, and when they are idle", async () => {
    const { tools, of, lines } = local();
    await of("echo");
    const pid = Number(lines()[0]?.split(" ")[1]);
    expect(isAlive(pid)).toBe(true);
    await tools.close();
    await eventually(() => !isAlive(pid));
    await expect(of("echo")).rejects.toThrow(/ending/);
    const idle = local({ idleMs: 50 });
    await idle.of("echo");
    const other = Number(idle.lines()[0]?.split(" ")[1]);
    await eventually(() => !isAlive(other));
  });

  test("leave nothing behind that they started, be it in another session and with the pipes in its hands", async () => {
    const { tools, of, lines } = local({ endMs: 50 });
    const { call } = await of("breed", "die", "echo");
    await call("mcp:box/breed", {}, NEVER);
    const bred = () => lines().flatMap((line) => (line.startsWith("bred ") ? [Number(line.slice(5))] : []));
    expect(bred().map(isAlive)).toEqual([true]);
    // It is gone although what it started still holds its output open.
    expect((await call("mcp:box/die", {}, NEVER)).status).toBe("error");
    await eventually(() => !bred().some(isAlive));
    expect((await call("mcp:box/echo", { text: "back" }, NEVER)).status).toBe("ok");
    await call("mcp:box/breed", {}, NEVER);
    await tools.close();
    expect(bred()).toHaveLength(2);
    await eventually(() => !bred().some(isAlive));
  });

  test("that say too much at once are let go", async () => {
    const { of } = local({ maxMessageBytes: 100_000, endMs: 50 });
    const { call } = await of("flood", "echo");
    expect((await call("mcp:box/flood", {}, NEVER)).status).toBe("error");
    expect((await call("mcp:box/echo", { text: "again" }, NEVER)).status).toBe("ok");
  });

  test("that cannot be reached say which server it is", async () => {
    const entries = [{ name: "gone", command: join(tmpdir(), "no-such-program") }];
    const tools = mcpTools(entries, world);
    running.push(tools);
    await expect(tools.toolsFor({ toolAllowlist: ["mcp:gone/x"] }, NEVER, "default")).rejects.toThrow(
      /MCP server gone/,
    );
    await expect(tools.toolsFor({ toolAllowlist: ["mcp:other/x"] }, NEVER, "default")).rejects.toThrow(
      /no MCP server other/,
    );
    const silent = mcpTools(
      [{ name: "mute", command: process.execPath, args: ["-e", "setInterval(() => {}, 1e6)"] }],
      world,
      {
        ...MCP_DEFAULTS,
        connectMs: 100,
      },
    );
    running.push(silent);
    await expect(silent.toolsFor({ toolAllowlist: ["mcp:mute/x"] }, NEVER, "default")).rejects.toThrow(
      /MCP server mute/,
    );
  });
});

describe("an MCP server behind a URL", () => {
  test("is asked with its key, not followed elsewhere, and not listened to for ever", async () => {
    const keys = new Set<string | undefined>();
    let forgets = false;
    const { Server: McpServer } = await import("@modelcontextprotocol/sdk/server/index.js");
    const { StreamableHTTPServerTransport } = await import("@modelcontextprotocol/sdk/server/streamableHttp.js");
    const { CallToolRequestSchema, ListToolsRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
    const http = createServer(async (request, response) => {
      keys.add(request.headers.authorization);
      if (request.url === "/moved") return void response.writeHead(307, { location: "/mcp" }).end();
      // As if it had been restarted: it knows nobody any more.
      if (forgets) {
        forgets = false;
        return void response.writeHead(404).end();
      }
      const server = new McpServer({ name: "test", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, async () => ({
        tools: [{ name: "clock", inputSchema: { type: "object" } }],
      }));
      server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
        if (params.arguments?.["fail"]) throw new Error("refused with the-key");
        return { content: [{ type: "text", text: params.arguments?.["long"] ? "noon ".repeat(1000) : "noon" }] };
      });
      const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport as never);
      await transport.handleRequest(request, response);
    });
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    running.push(http);
    const at = (path: string) => `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`;
    const tools = mcpTools(
      [
        { name: "far", url: at("/mcp"), apiKeyEnv: "TOKEN" },
        { name: "moved", url: at("/moved"), apiKeyEnv: "TOKEN" },
        { name: "keyless", url: at("/mcp"), apiKeyEnv: "NOT_SET" },
      ],
      { ...world, scrubText: (text) => text.replaceAll("the-key", "[REDACTED]") },
      { ...MCP_DEFAULTS, maxMessageBytes: 4000 },
    );
    running.push(tools);
    const { call } = await tools.toolsFor({ toolAllowlist: ["mcp:far/clock"] }, NEVER, "default");
    expect(await call("mcp:far/clock", {}, NEVER)).toEqual({ status: "ok", outcome: "noon" });
    const refused = await call("mcp:far/clock", { fail: true }, NEVER);
    expect(refused).toMatchObject({ status: "error", error: expect.stringContaining("refused with [REDACTED]") });
    expect((await call("mcp:far/clock", { long: true }, NEVER)).status).toBe("error");
    expect([...keys]).toEqual(["Bearer the-key"]);
    forgets = true;
    expect(await call("mcp:far/clock", {}, NEVER)).toEqual({ status: "ok", outcome: "noon" });
    await expect(tools.toolsFor({ toolAllowlist: ["mcp:moved/clock"] }, NEVER, "default")).rejects.toThrow(
      /MCP server moved/,
    );
    await expect(tools.toolsFor({ toolAllowlist: ["mcp:keyless/clock"] }, NEVER, "default")).rejects.toThrow(/NOT_SET/);
  });
});
