import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Guard } from "../../engine/outbound/guard.ts";
import { toolsOf, watched } from "../../testing/agent-task.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { COMMAND_DEFAULTS, commandBinding } from "../bindings/command.ts";
import { HTTP_DEFAULTS, httpBinding } from "../bindings/http.ts";
import { RETRY_WORLD } from "../retrying.ts";
import { type GatewaySettings, type ToolGateway, toolGateway } from "./tool-gateway.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function gatewayOf(settings: Partial<GatewaySettings> = {}): ToolGateway {
  const gateway = toolGateway(settings);
  closing.push(() => gateway.close());
  return gateway;
}

const orders = () =>
  toolsOf([{ name: "shop:orders" }], (_, args) => ({ status: "ok", outcome: { of: args, ageDays: 40 } }));

/** A program in Node, whose standard input was read already. */
function program(source: string, gateway: ToolGateway | undefined, environment: Record<string, string> = {}) {
  return commandBinding(
    {
      ...COMMAND_DEFAULTS,
      program: process.execPath,
      args: ["--input-type=module", "--eval", source],
      directory: tempDir(),
      killMs: 50,
    },
    { environment: { PATH: process.env["PATH"], ...environment }, scrubText: (text) => text, gateway },
  );
}

const TEN_LINES = `
const { ASSAY_TOOLS_URL: url, ASSAY_TOOLS_TOKEN: token } = process.env;
const answer = await fetch(url + "/call", {
  method: "POST",
  headers: { authorization: "Bearer " + token },
  body: JSON.stringify({ tool: "shop:orders", arguments: { id: 7 } }),
});
console.log(await answer.text());`;

describe("a program that is an agent", () => {
  test("calls its tools by the address and the token in its environment", async () => {
    const { surface, asked } = orders();
    const { answer } = await watched(program(TEN_LINES, gatewayOf()), { tools: surface });
    expect(answer).toEqual({ type: "completed", output: { result: { of: { id: 7 }, ageDays: 40 } } });
    expect(asked).toEqual([{ name: "shop:orders", args: { id: 7 } }]);
  });

  test("has a token of its own for each call, which is masked in all it writes and void afterwards", async () => {
    const gateway = gatewayOf();
    const leak = `
const { ASSAY_TOOLS_URL: url, ASSAY_TOOLS_TOKEN: token } = process.env;
console.error(token);
console.log(JSON.stringify({ url, token, spelled: [...token].join(" ") }));`;
    const leaked = async () => {
      const { answer } = await watched(program(leak, gateway));
      if (answer.type !== "completed") throw new Error(answer.type);
      return answer.output as { readonly url: string; readonly token: string; readonly spelled: string };
    };
    const [first, second] = [await leaked(), await leaked()];
    expect(first.token).toBe("[REDACTED]");
    expect(first.spelled).not.toBe(second.spelled);
    const headers = { authorization: `Bearer ${first.spelled.replaceAll(" ", "")}` };
    expect((await fetch(`${first.url}/tools`, { headers })).status).toBe(401);
    const { answer } = await watched(program(`console.error(process.env.ASSAY_TOOLS_TOKEN); process.exit(1)`, gateway));
    expect(answer).toMatchObject({ type: "failed", error: { message: expect.stringContaining("[REDACTED]") } });
  });

  test("says that it cannot be offered tools where there is no gateway, so that a suite with fixtures is refused", () => {
    expect(program("", undefined).noTools).toContain("no tool gateway");
    expect(program("", gatewayOf()).noTools).toBeUndefined();
  });

  test("finds no address of an outer invocation where it is offered no tools", async () => {
    const script = "console.log(JSON.stringify(Object.keys(process.env).filter((name) => name.includes('TOOLS'))))";
    const outer = { ASSAY_TOOLS_URL: "http://127.0.0.1:1", ASSAY_TOOLS_TOKEN: "outer" };
    expect((await watched(program(script, undefined, outer))).answer).toMatchObject({ output: [] });
  });

  test("is not started where the gateway cannot listen, and the failure says why; one without tools does not need it", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => taken.close(resolve)));
    const { port } = taken.address() as AddressInfo;
    const agent = program("console.log(JSON.stringify(process.env.ASSAY_TOOLS_URL ?? null))", gatewayOf({ port }));
    const { answer } = await watched(agent, { tools: orders().surface });
    expect(answer).toMatchObject({
      type: "failed",
      error: { code: "agent_not_configured", message: expect.stringContaining("EADDRINUSE") },
    });
    expect((await watched(agent)).answer).toEqual({ type: "completed", output: null });
  });
});

describe("an endpoint that is an agent", () => {
  /** Calls a tool with what it was given, and answers with the body that it was posted and what the tool gave. */
  async function endpoint(): Promise<string> {
    const server: Server = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request) text += piece;
      const { tools } = JSON.parse(text) as { tools?: { url: string; token: string } };
      const answer =
        tools &&
        (await fetch(`${tools.url}/call`, {
          method: "POST",
          headers: { authorization: `Bearer ${tools.token}` },
          body: JSON.stringify({ tool: "shop:orders" }),
        }));
      response.end(JSON.stringify({ posted: JSON.parse(text), called: (await answer?.json()) ?? null }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`;
  }
  const guard: Guard = { allowPrivate: true, resolve: async () => [{ address: "127.0.0.1", family: 4 }] };
  const agent = (url: string, gateway: ToolGateway) =>
    httpBinding(
      { ...HTTP_DEFAULTS, attemptsMax: 1, url, headers: {} },
      guard,
      { ...RETRY_WORLD, scrubText: (text) => text },
      gateway,
    );

  test("is posted the address and the token of its tools, and calls them", async () => {
    const { surface } = orders();
    const { answer } = await watched(agent(await endpoint(), gatewayOf()), { tools: surface });
    expect(answer).toMatchObject({
      output: {
        posted: { tools: { url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), token: "[REDACTED]" } },
        called: { result: { of: {}, ageDays: 40 } },
      },
    });
  });

  test("on another machine is offered none without --tools-url, and says so", async () => {
    const local = new URL(await endpoint());
    const elsewhere = `http://agent.internal:${local.port}/agent`;
    const binding = agent(elsewhere, gatewayOf());
    expect(binding.noTools).toContain("--tools-url");
    const { answer } = await watched(binding);
    expect(answer).toMatchObject({ type: "completed", output: { called: null } });
    expect(JSON.stringify(answer)).not.toContain("token");
  });

  test("on another machine is posted the address of --tools-url", async () => {
    const gateway = gatewayOf();
    const { url } = await gateway.offer(orders().surface, AbortSignal.timeout(1000));
    const proxied = gatewayOf({ remoteUrl: `${url.replace("127.0.0.1", "localhost")}/assay` });
    const local = new URL(await endpoint());
    const binding = agent(`http://agent.internal:${local.port}/agent`, proxied);
    expect(binding.noTools).toBeUndefined();
    const { answer } = await watched(binding);
    expect(answer).toMatchObject({
      output: { posted: { tools: { url: expect.stringMatching(/^http:\/\/localhost:\d+\/assay$/) } } },
    });
  });
});
