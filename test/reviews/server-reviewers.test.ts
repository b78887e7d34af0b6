import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay, type Server, serve } from "../cli/assay.ts";
import { request } from "./provide.ts";

/** Reviews as it is told by the artifact, and says what it was given. */
const PROGRAM = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
let text = "";
for await (const piece of process.stdin) text += piece;
const { request, session } = JSON.parse(text);
const { content } = request.artifact;
if (content.startsWith("hang ")) {
  process.on("SIGTERM", () => {});
  const child = spawn(process.execPath, ["--eval", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]);
  writeFileSync(content.slice(5), [process.pid, child.pid].join(" "));
  setInterval(() => {}, 1000);
} else if (content === "flood") {
  for (;;) if (!process.stdout.write("x".repeat(1 << 20))) await new Promise((on) => process.stdout.once("drain", on));
} else {
  const names = Object.keys(process.env).filter((name) => name.startsWith("ASSAY_"));
  console.log(JSON.stringify({
    areas_for_improvement: [{ id: "asked-for-this", aspect: "a", description: process.argv.slice(2).join("|"), recommendation: "r" }],
    general_summary: JSON.stringify({ names, last: session.last }),
  }));
}
`;

function program(): string {
  const path = join(tempDir(), "review.mjs");
  writeFileSync(path, PROGRAM);
  return path;
}

async function ask({ url, ownerKey }: Server, agent: string, body: string, session?: string) {
  const query = new URLSearchParams({ agent, ...(session === undefined ? {} : { session }) });
  const answer = await fetch(`${url}/v1/host/assay/afp/run?${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${ownerKey}` },
    body,
  });
  const text = await answer.text();
  if (!answer.ok) return { status: answer.status, problem: JSON.parse(text), session: "", response: undefined };
  const line = text.split("\n").map((one) => (one === "" ? undefined : JSON.parse(one)));
  const response = JSON.parse(line.find((one) => one?.type === "text").part.text);
  return { status: 200, session: answer.headers.get("x-afp-session") ?? "", response };
}

const bound = (name: string, words = "") => `${name}=command:${JSON.stringify(process.execPath)} ${program()} ${words}`;

async function appears(path: string): Promise<number[]> {
  while (!existsSync(path) || readFileSync(path, "utf8") === "") await new Promise((on) => setTimeout(on, 20));
  return readFileSync(path, "utf8").split(" ").map(Number);
}

const runs = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
};

async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(runs)) await new Promise((on) => setTimeout(on, 20));
}

test("names are bound to programs and rules by settings, beside the one that is always known", async () => {
  const args = ["--data", tempDir(), "--reviewer", bound("own", '--deep "a b"'), "--reviewer", "strict=builtin"];
  const env = { ASSAY_REVIEW_MODEL_KEY: "k", ASSAY_OTLP_HEADERS: "a=b", ASSAY_LOG_LEVEL: "error" };
  const server = await serve(args, { env });
  const first = await ask(server, "own", request(1, "x"));
  expect(first.response.feedback.areas_for_improvement).toMatchObject([
    { id: "asked-for-this", description: "--deep|a b" },
  ]);
  const { names, last } = JSON.parse(first.response.feedback.general_summary);
  expect(last).toBe(0);
  for (const ours of Object.keys(env)) expect(names).not.toContain(ours);
  const second = await ask(server, "own", request(2, "y"), first.session);
  expect(JSON.parse(second.response.feedback.general_summary).last).toBe(1);
  for (const agent of ["strict", "qualitative-reviewer"]) {
    const { response } = await ask(server, agent, request(1, "TODO: this"));
    expect(response.feedback.areas_for_improvement[0].id).toMatch(/^todo-mark/);
  }
  const unknown = await ask(server, "nobody", request(1));
  expect(unknown).toMatchObject({ status: 404, problem: { details: { name: "NotFound" } } });
  expect(unknown.problem.details.known).toEqual(["qualitative-reviewer", "own", "strict"]);
  await server.stop();
});

test("a program that takes too long, or prints too much, is ended with all it started, and the answer says no more than that", async () => {
  const server = await serve(["--data", tempDir(), "--reviewer", bound("own"), "--reviewer-timeout-ms", "1500"]);
  const marks = join(tempDir(), "pids");
  const hung = await ask(server, "own", request(1, `hang ${marks}`));
  expect(hung.response).toMatchObject({ status: "error", error: { code: "INTERNAL_ERROR" } });
  await gone(await appears(marks));
  const flooded = await ask(server, "own", request(1, "flood"));
  expect(flooded.response).toMatchObject({ status: "error", error: { code: "INTERNAL_ERROR" } });
  await server.stop();
});

test("no program outlives the host that started it, also for a large artifact", async () => {
  const server = await serve(["--data", tempDir(), "--reviewer", bound("own"), "--shutdown-grace-ms", "300"]);
  const asked = [{}, { "x-more": "x".repeat(200_000) }].map((more) => {
    const marks = join(tempDir(), "pids");
    return { marks, over: ask(server, "own", request(1, `hang ${marks}`, more)).catch(() => undefined) };
  });
  const pids = (await Promise.all(asked.map(({ marks }) => appears(marks)))).flat();
  expect(pids.map(runs)).toEqual([true, true, true, true]);
  await server.stop();
  await gone(pids);
  await Promise.all(asked.map(({ over }) => over));
});

test("a host that is to review with what is not there does not start", async () => {
  const cases = [
    ["own=command:./missing", "own is bound to the program"],
    ["own=rules", "--reviewer must be NAME=builtin"],
    ["own=model", "ASSAY_REVIEW_MODEL"],
  ] as const;
  const started = cases.map(([reviewer]) =>
    assay(["serve", "--port", "0", "--data", tempDir(), "--reviewer", reviewer]),
  );
  for (const [i, { code, stdout, stderr }] of (await Promise.all(started)).entries()) {
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(cases[i]?.[1]);
  }
});

test("the command line knows whoever settings bind, too", async () => {
  const env = { ASSAY_REVIEWER: `${bound("own", "--here")}; strict=builtin`, HOME: tempDir() };
  const args = ["review", "provide", "--state", tempDir(), "--agent", "own"];
  const { stdout, stderr } = await assay(args, { env, stdin: request(1, "x") });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout).feedback.areas_for_improvement).toMatchObject([{ description: "--here" }]);
});
