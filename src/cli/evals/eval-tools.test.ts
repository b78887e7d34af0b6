import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { AgentEvalSuite } from "../../protocol/evals/eval-suite.ts";
import { suiteOf } from "../../testing/eval-bench.ts";
import { EvalDesk } from "../../testing/eval-command.ts";
import { CALLING } from "../../testing/gateway-agent.ts";
import { allNamed, readXml } from "../../testing/xml.ts";

const read = (path: string) => readFileSync(path, "utf8");
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const FIXTURES = { toolResponses: [{ tool: "crm:find", response: { plan: "Pro" } }] };

/** A task that calls the tool and one that does not; both have a fixture for it and pass. */
function planSuite(changes: Partial<AgentEvalSuite> = {}): AgentEvalSuite {
  const task = (taskId: string, input: unknown[], value: unknown[]) => ({
    taskId,
    input,
    expected: { kind: "golden" as const, match: { strategy: "json-match" as const, value } },
    fixtures: FIXTURES,
  });
  return suiteOf([task("asks", [{ tool: "crm:find" }], [{ plan: "Pro" }]), task("guesses", [], [])], changes);
}

/** Answers each call as the tool gateway does that it was posted. */
async function endpoint(): Promise<number> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const { input, tools } = JSON.parse(text);
    const output: unknown[] = [];
    for (const call of input) {
      const headers = { authorization: `Bearer ${tools.token}` };
      const answer = await fetch(`${tools.url}/call`, { method: "POST", headers, body: JSON.stringify(call) });
      output.push(((await answer.json()) as { result?: unknown }).result ?? null);
    }
    response.end(JSON.stringify({ output }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return (server.address() as AddressInfo).port;
}

describe("assay eval run with fixtures", () => {
  test("gives a program the answers of its task, and says in every output which fixtures were never used", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite());
    const [junit, md, json] = ["junit.xml", "summary.md", "evals.json"].map((name) => join(desk.folder, name));
    const files = ["--junit", junit ?? "", "--md", md ?? "", "--json", json ?? ""];
    const { code, out } = await desk.eval("run", suite, ...desk.program("agent.mjs", CALLING), ...files);
    const warning = "Fixtures of 1 task were never used: guesses (crm:find).";
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`! ${warning}`) });
    expect(out).toContain("2 of 2 tasks passed");
    expect((await desk.eval("show")).out).toContain(warning);
    const cases = allNamed(readXml(read(junit ?? "")), "testcase");
    expect(cases.map((one) => JSON.stringify(one).includes("fixtures never used: crm:find"))).toEqual([false, true]);
    expect(read(junit ?? "")).toContain('<property name="fixturesUnused" value="crm:find"/>');
    expect(read(md ?? "")).toContain("Fixtures of 1 task were never used");
    const { report, warnings } = JSON.parse(read(json ?? ""));
    expect(report.tasks).toMatchObject([{ fixturesUnused: [] }, { fixturesUnused: ["crm:find"] }]);
    expect(warnings).toContain(warning);
  });

  test("gives an endpoint of this machine the same", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite());
    const { code, out } = await desk.eval("run", suite, "--http", `http://127.0.0.1:${await endpoint()}`);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("guesses (crm:find)") });
  });

  test("refuses an endpoint that cannot reach the tools, before anything is run, and says what to do", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite({ modes: ["golden", "live-shadow"] }));
    const http = ["--http", "http://agents.example.invalid/refunds", "--timeout", "1"];
    const { code, out, err } = await desk.eval("run", suite, ...http, "--mode", "golden");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/task asks has fixtures for tools.*cannot be offered them: .*set --tools-url/);
    expect((await desk.eval("list")).out).not.toContain("run-");
    // With an address for it the evaluation begins; live tools need no fixtures.
    const given = await desk.eval("run", suite, ...http, "--mode", "golden", "--tools-url", "https://assay.example");
    expect(given.err).not.toContain("--tools-url");
    expect(given.code).not.toBe(2);
    expect((await desk.eval("run", suite, ...http, "--mode", "live-shadow")).err).not.toContain("--tools-url");
  }, 60_000);

  test("refuses an address of the gateway that is none", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", planSuite());
    const { code, err } = await desk.eval("run", suite, "--command", "true", "--tools-url", "assay.example");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("--tools-url must be an http") });
  });
});
