import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { evalSuite, goldenTask } from "../../src/testing/suite-builders.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflow } from "../../src/testing/workflow.ts";
import { assay, type Server, serve } from "./in-process.ts";

const BIN = fileURLToPath(new URL("../../bin/assay.js", import.meta.url));
const SCRIPT = "/usr/bin/script";
/** Sets the title of a terminal by a control of the second kind, and turns the text around. */
const HOSTILE = "before\u009d0;owned\u009c \u202eafter\u202c \u001b]0;owned\u0007 end";
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]|\u001b\]|\u0007/;

let server: Server;
let runId: string;
beforeAll(async () => {
  server = await serve(["--data", join(tempDir(), "data"), "--log-level", "error"]);
  const folder = tempDir();
  const definition = { ...workflow({ id: "odd", nodes: { a: "core.noop" } }), description: HOSTILE };
  // The characters themselves and not their escapes, as a hostile author writes them.
  writeFileSync(join(folder, "odd.json"), JSON.stringify(definition));
  writeFileSync(
    join(folder, "suite.json"),
    JSON.stringify(evalSuite({ tasks: [goldenTask("greets", { input: { name: HOSTILE } })] })),
  );
  const registered = await server.client("workflow", "register", join(folder, "odd.json"));
  expect(registered, registered.stderr).toMatchObject({ code: 0 });
  const suite = await server.client("suite", "push", join(folder, "suite.json"));
  expect(suite, suite.stderr).toMatchObject({ code: 0 });
  const body = JSON.stringify({ workflowId: "odd", inputs: { note: HOSTILE } });
  const headers = { authorization: `Bearer ${server.ownerKey}`, "content-type": "application/json" };
  const started = await fetch(`${server.url}/v1/runs`, { method: "POST", headers, body });
  runId = ((await started.json()) as { runId: string }).runId;
});

const environment = () => ({ ASSAY_URL: server.url, ASSAY_KEY: server.ownerKey ?? "", TERM: "xterm" });

/** The bytes that the program writes to a terminal of its own, or to a pipe. */
async function output(args: readonly string[], where: "terminal" | "pipe"): Promise<string> {
  const { code, stdout } = where === "terminal" ? await inTerminal(args) : await assay(args, { env: environment() });
  expect([args[1], code, stdout]).toEqual([args[1], 0, stdout]);
  return stdout;
}

async function inTerminal(args: readonly string[]): Promise<{ code: unknown; stdout: string }> {
  const quoted = [process.execPath, BIN, ...args].map((word) => `'${word}'`).join(" ");
  const env = { ...process.env, ...environment() };
  const child = spawn(SCRIPT, ["-qec", quoted, "/dev/null"], {
    env,
    cwd: tempDir(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
  });
  const [code] = await once(child, "close");
  return { code, stdout };
}

const places = existsSync(SCRIPT) ? (["pipe", "terminal"] as const) : (["pipe"] as const);

describe.each(places)("texts of others in a %s", (where) => {
  test.each([
    ["workflow show", () => ["workflow", "show", "odd"]],
    ["suite show", () => ["suite", "show", evalSuite().suiteId]],
    ["run bundle", () => ["run", "bundle", runId]],
  ])("are printed by %s with their controls escaped, as the same JSON", async (_, args) => {
    const text = await output(args(), where);
    expect(text).not.toMatch(UNSAFE);
    expect(text).toContain("\\u009d0;owned");
    expect(JSON.stringify(JSON.parse(text))).toContain(JSON.stringify(HOSTILE).slice(1, -1));
  });
});
