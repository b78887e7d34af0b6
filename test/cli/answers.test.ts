import { join } from "node:path";
import { expect, test } from "vitest";
import { createDatabase } from "../../src/testing/postgres.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflow } from "../../src/testing/workflow.ts";
import * as processes from "./assay.ts";
import { workflowFolder } from "./assay.ts";
import { type Ready, serve } from "./in-process.ts";

const SECRET = "tulip-field";

/** Asks for a token, sleeps, and then tells what it may of it. */
const LOGIN = workflow({
  id: "login",
  nodes: {
    gate: { typeId: "core.clarificationGate", config: { questions: [{ id: "token", question: "Which token?" }] } },
    nap: { typeId: "core.delay", config: { ms: 2000 } },
    say: {
      typeId: "core.identity",
      inputs: {
        hint: { type: "expression", expression: `nodes.gate.outputs.answers.token.startsWith("tulip")` },
        whole: { type: "expression", expression: "nodes.gate.outputs.answers.token" },
      },
    },
  },
  edges: ["gate>nap", "nap>say"],
});

async function ask(server: Ready, key: string, method: string, path: string, body?: object): Promise<string> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  expect([path, response.status < 300, text]).toEqual([path, true, text]);
  return text;
}

test.each(["SQLite", "PostgreSQL"])(
  "an answer with a secret reaches the next node after a kill, and no reader, on %s",
  async (kind) => {
    const data = tempDir();
    const database = kind === "SQLite" ? undefined : await createDatabase();
    const where = database === undefined ? ["--data", join(data, "db")] : ["--database-url", database.url];
    const first = await processes.serve([...where, "--workflows", workflowFolder({ "login.json": LOGIN })]);
    const key = first.ownerKey ?? "";
    const { runId } = JSON.parse(await ask(first, key, "POST", "/v1/runs", { workflowId: "login" }));
    await expect.poll(() => ask(first, key, "GET", `/v1/runs/${runId}`), { timeout: 10_000 }).toContain("Which token?");
    await ask(first, key, "POST", `/v1/runs/${runId}/interrupts/gate`, { resumeValue: { answers: { token: SECRET } } });
    const between = await ask(first, key, "GET", `/v1/runs/${runId}`);
    await first.stop("SIGKILL");
    expect(JSON.parse(between).variables).toEqual({});

    const second = await serve(where, { key });
    expect(await second.client("run", "watch", runId)).toMatchObject({ code: 0 });
    const after = JSON.parse(await ask(second, key, "GET", `/v1/runs/${runId}`));
    expect(after).toMatchObject({ status: "completed", variables: { hint: true, whole: "[REDACTED]" } });
    const { stdout: shown } = await second.client("run", "show", runId, "--json");
    const log = await ask(second, key, "GET", `/v1/runs/${runId}/events/poll`);
    const bundle = await ask(second, key, "GET", `/v1/runs/${runId}/debug-bundle`);
    expect([between, JSON.stringify(after), shown, log, bundle].join()).not.toContain(SECRET);
    expect(first.stderr() + second.stderr()).not.toContain(SECRET);
    await second.stop();
    await database?.drop();
  },
);
