import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inLongForm } from "../src/testing/long-form.ts";
import { createDatabase } from "../src/testing/postgres.ts";
import { tempDir } from "../src/testing/temp-dir.ts";
import { workflow } from "../src/testing/workflow.ts";
import { startAssay } from "./assay-process.js";

const KEY = "key-of-the-owner-of-the-small-host";
/** So small that the children of one run do not fit together. */
const NODE_ARGS = ["--max-old-space-size=160"];
const CHILDREN = 14;
const DOUBLINGS = 18;

/** Grows to about 6 MB and waits. */
function growing(id: string) {
  const names = Array.from({ length: DOUBLINGS }, (_, i) => `n${i}`);
  const inputs = { x: { type: "expression" as const, expression: "variables.x + variables.x" } };
  return workflow({
    id,
    nodes: {
      ...Object.fromEntries(names.map((name) => [name, { typeId: "core.identity", inputs }])),
      gate: "core.approvalGate",
    },
    edges: [...names.slice(1).map((name, i) => `${names[i]}>${name}`), `${names.at(-1)}>gate`],
    variables: [{ name: "x", type: "string", defaultValue: "12345678" }],
  });
}

function above(id: string) {
  const sub = { typeId: "core.subWorkflow", config: { workflowId: "below" } };
  return workflow({
    id,
    nodes: {
      ...Object.fromEntries(Array.from({ length: CHILDREN }, (_, i) => [`sub${i}`, sub])),
      gate: "core.approvalGate",
      fail: "core.fail",
    },
    edges: ["gate>fail"],
  });
}

interface Answer {
  readonly runId: string;
  readonly status: string;
  readonly more?: boolean;
  readonly childRuns?: readonly { readonly runId: string; readonly status: string }[];
}

async function hostOn(database: readonly string[], folder: string) {
  const keys = [{ key: KEY, tenant: "t1", principal: "o", roles: ["owner"] }];
  writeFileSync(join(folder, "keys.json"), JSON.stringify(keys));
  const args = ["--port", "0", "--keys", join(folder, "keys.json"), ...database];
  const server = await startAssay({ args, logFile: join(folder, "server.log"), nodeArgs: NODE_ARGS });
  const ask = async (method: string, path: string, body?: object): Promise<Answer> => {
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${path}`, { method, headers, ...sent });
    return (await response.json()) as Answer;
  };
  const until = async (runId: string, holds: (run: Answer) => boolean): Promise<Answer> => {
    for (;;) {
      const run = await ask("GET", `/v1/runs/${runId}`);
      if (holds(run)) return run;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  const waiting = ({ childRuns = [] }: Answer) =>
    childRuns.filter(({ status }) => status === "waiting-approval").length === CHILDREN;
  const ended = ({ childRuns = [] }: Answer) => childRuns.every(({ status }) => status === "cancelled");
  return { ...server, ask, until, waiting, ended };
}

const DATABASES = inLongForm([
  ["SQLite", async (folder: string) => ["--data", folder]],
  ["PostgreSQL", async () => ["--database-url", (await createDatabase()).url]],
] as const);

describe.each(DATABASES)("a run with many large children, on %s", (_, databaseFor) => {
  test("is read and fails within the memory of the host, and its children are cancelled by their workflow", async () => {
    const folder = tempDir();
    const host = await hostOn(await databaseFor(folder), folder);
    await host.ask("POST", "/v1/workflows", growing("below"));
    await host.ask("POST", "/v1/workflows", above("above"));
    const begin = async (workflowId: string) => (await host.ask("POST", "/v1/runs", { workflowId })).runId;

    const failed = await begin("above");
    await host.until(failed, host.waiting);
    await host.ask("POST", `/v1/runs/${failed}/interrupts/gate`, { resumeValue: { action: "accept" } });
    await host.until(failed, (run) => run.status === "failed" && host.ended(run));

    const cancelled = await begin("above");
    await host.until(cancelled, host.waiting);
    let more: boolean | undefined = true;
    while (more) ({ more } = await host.ask("POST", "/v1/host/assay/runs:cancel", { workflowId: "below" }));
    await host.until(cancelled, host.ended);
    expect(host.isAlive()).toBe(true);
    await host.stop();
    // Hundreds of megabytes, which may be in memory.
    rmSync(folder, { recursive: true });
  }, 300_000);
});
