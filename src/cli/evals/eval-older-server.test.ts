import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EvalReport } from "../../protocol/evals/api.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { AGENT_ID, echo } from "../../testing/eval-bench.ts";
import { EvalDesk, evalCommand, lettersSuite } from "../../testing/eval-command.ts";
import { type EvalServer, evalServer } from "../../testing/eval-server.ts";
import { KEYS } from "../../testing/host.ts";

/** A report as version 0.1.0 gave it: one pass for all modes, and no word on why something was not run. */
function earlier({ modeFigures: _, notRun: __, warnings: ___, ...report }: EvalReport): object {
  const { comparison } = report.baseline ?? {};
  const { unpairedModes: ____, ...compared } = comparison ?? {};
  return {
    ...report,
    tasks: report.tasks.map(({ passes: _, bodies: __, fixturesUnused: ___, ...task }) => task),
    ...(comparison ? { baseline: { ...report.baseline, comparison: compared } } : {}),
  };
}

/** A server in front of another one that makes older reports of its reports. */
function inFrontOf(url: string): Server {
  return createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { method = "GET", url: path = "" } = request;
    const { authorization = "", "content-type": type = "application/json" } = request.headers;
    const body = pieces.length === 0 ? {} : { body: Buffer.concat(pieces) };
    const headers = { authorization, "content-type": type };
    const answer = await fetch(`${url}${path}`, { method, headers, ...body });
    const text = await answer.text();
    const isReport = answer.ok && /\/report(\?|$)/.test(path);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
    response.end(isReport ? JSON.stringify(earlier(JSON.parse(text) as EvalReport)) : text);
  });
}

describe("assay eval with a server of an earlier version", () => {
  let host: EvalServer;
  let front: Server;
  let url: string;
  beforeAll(async () => {
    host = await evalServer(await openSqliteStore({ path: ":memory:" }), {
      behave: (task, watch) => (task.taskId === "f" ? { type: "completed", output: "?" } : echo(task, watch)),
    });
    front = inFrontOf(await host.listen());
    await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    front.closeAllConnections();
    await new Promise((resolve) => front.close(resolve));
    await host.close();
  });
  const assay = (...argv: string[]) => evalCommand(argv, { ASSAY_URL: url, ASSAY_KEY: KEYS.owner.key });
  const runIdIn = (text: string) => /run-[0-9a-z]+/.exec(text)?.[0] ?? "";

  test("shows, writes and compares reports that do not have what later versions record", async () => {
    const desk = new EvalDesk();
    const suite = desk.file("suite.json", lettersSuite("abcdef", { modes: ["golden", "adversarial"] }));
    const first = await assay("run", suite, "--agent", AGENT_ID);
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining("5 of 6 tasks passed") });
    expect(first.out).toMatch(/Modes +golden, adversarial\n/);
    const runId = runIdIn(first.out);
    const files = ["json", "xml", "md", "sarif"].map((name) => join(desk.folder, `out.${name}`));
    const [json = "", junit = "", md = "", sarif = ""] = files;
    const written = ["--output", json, "--junit", junit, "--md", md, "--sarif", sarif];
    const second = await assay("run", suite, "--agent", AGENT_ID, "--baseline", runId, "--task", "a,b,c", ...written);
    expect(second).toMatchObject({ code: 0, out: expect.stringContaining("3 of 6 tasks of the suite were not run.") });
    for (const file of files) expect(readFileSync(file, "utf8")).toMatch(/passed/i);
    expect(await assay("show", runId, "--json")).toMatchObject({ code: 0, err: expect.any(String) });
    expect(await assay("compare", runIdIn(second.out), runId)).toMatchObject({ code: 0 });
  });
});
