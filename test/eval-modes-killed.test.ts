import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "../src/testing/eventually.ts";
import { tempDir } from "../src/testing/temp-dir.ts";

const BIN = fileURLToPath(new URL("../bin/assay.js", import.meta.url));

test("an evaluation in several modes that was killed within a task makes all passes of that task again, and each once", async () => {
  const folder = tempDir();
  const at = (name: string) => join(folder, name);
  const tasks = ["a", "b", "c"].map((taskId) => ({
    taskId,
    input: taskId,
    expected: { kind: "golden", match: { strategy: "exact", value: "first" } },
    fixtures: { toolResponses: ["first", "second"].map((response) => ({ tool: "crm:find", response })) },
  }));
  const suite = { suiteId: "acme.evals.passes", version: "1.0.0", modes: ["golden", "adversarial"], tasks };
  writeFileSync(at("suite.json"), JSON.stringify(suite));
  // Asks its tool first; the second time that it is asked for b, it does not answer until there is a file `go`.
  writeFileSync(
    at("agent.mjs"),
    `import { appendFileSync, existsSync, readFileSync } from "node:fs";
    const asked = JSON.parse(readFileSync(0, "utf8"));
    const { ASSAY_TOOLS_URL: url, ASSAY_TOOLS_TOKEN: token } = process.env;
    const headers = { authorization: "Bearer " + token };
    const answer = await fetch(url + "/call", { method: "POST", headers, body: '{"tool":"crm:find"}' });
    const { result } = await answer.json();
    appendFileSync("asked", asked);
    const isLate = readFileSync("asked", "utf8").endsWith("bb");
    while (isLate && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    console.log(JSON.stringify(result));`,
  );
  const assay = (...argv: string[]) => {
    const env = { ...process.env, ASSAY_URL: "" };
    return spawn(process.execPath, [BIN, "eval", ...argv], { cwd: folder, stdio: ["ignore", "pipe", "inherit"], env });
  };
  const ended = async (child: ReturnType<typeof assay>) => {
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    const [code] = await once(child, "close");
    return { code, out };
  };
  const run = ["run", "suite.json", "--command", "node", "--arg", "agent.mjs"];
  const first = assay(...run, "--concurrency", "1");
  await eventually(() => expect(readFileSync(at("asked"), "utf8")).toBe("aabb"));
  first.kill("SIGKILL");
  await once(first, "close");
  writeFileSync(at("go"), "");
  const resumed = await ended(assay(...run, "--resume", "latest", "--output", "out.json"));
  expect(resumed).toMatchObject({ code: 0, out: expect.stringContaining("golden 3 of 3, adversarial 3 of 3") });
  expect(readFileSync(at("asked"), "utf8")).toBe("aabbbbcc");
  const pass = (mode: string) => expect.objectContaining({ mode, score: 1, passed: true });
  const told = JSON.parse(readFileSync(at("out.json"), "utf8"));
  expect(told).toMatchObject({ verdict: "passed", report: { tasks: expect.any(Array) } });
  for (const task of told.report.tasks) {
    expect(task).toMatchObject({ fixturesUnused: [], passes: [pass("golden"), pass("adversarial")] });
  }
  const shown = JSON.parse((await ended(assay("show", "latest", "b", "--json"))).out);
  expect(shown.trials).toMatchObject([
    { trial: 1, mode: "golden", toolCalls: [{ result: "first" }] },
    { trial: 1, mode: "adversarial", toolCalls: [{ result: "first" }] },
  ]);
});
