import { afterEach, describe, expect, test } from "vitest";
import { packArchive } from "../../../src/agents/packs/pack-archive.ts";
import { fillPath } from "../../../src/http/pipeline/read-url.ts";
import { AGENT_OPERATIONS } from "../../../src/protocol/agents/operations.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { packFiles } from "../../../src/testing/packs.ts";

let host: TestHost;
afterEach(() => host.close());

describe("a host without agents", () => {
  test("has no routes for them and says nothing of them", async () => {
    host = await testHost({ capabilities: ["feedback"] });
    for (const { method, path } of Object.values(AGENT_OPERATIONS)) {
      expectError(await host.ask(method, fillPath(path, { agentId: "local.acme.x" })), "not_found");
    }
    const document = (await host.app.inject({ method: "GET", url: "/.well-known/openwop" })).json();
    expect(document).not.toHaveProperty("agents");
  });
});

describe("a host that takes signed packs only", () => {
  test("refuses one that is not, before it looks at it", async () => {
    host = await testHost({ deps: { trust: { publishers: [], allowUnsigned: false } } });
    for (const files of [packFiles(), packFiles({ nothing: true })]) {
      const body = Buffer.from(packArchive(files));
      expectError(await host.ask("POST", "/v1/host/assay/agents:install", { body }), "pack_not_trusted");
    }
    expect((await host.ask("GET", "/v1/agents")).json()).toEqual({ agents: [], total: 0 });
  });

  test("refuses an archive that is larger than a request may be", async () => {
    host = await testHost({ settings: { maxPackBytes: 1024 } });
    const body = Buffer.from(packArchive(packFiles()));
    expectError(await host.ask("POST", "/v1/host/assay/agents:install", { body }), "payload_too_large");
  });
});

describe("discovery", () => {
  test("says that agents are installed per tenant, checked and called", async () => {
    host = await testHost();
    const { agents } = (await host.app.inject({ method: "GET", url: "/.well-known/openwop" })).json();
    expect(agents).toMatchObject({
      supported: true,
      manifestRuntime: { supported: true, handoffValidation: true, installScope: "tenant" },
      liveRuntime: { supported: true, structuredOutput: true },
    });
  });

  test("keeps what supervisors do apart from agents", async () => {
    host = await testHost({ capabilities: ["orchestrator"] });
    const { agents } = (await host.app.inject({ method: "GET", url: "/.well-known/openwop" })).json();
    expect(agents).toEqual({ orchestrator: true, dispatch: true, dispatchMapping: true });
  });
});
