import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eventually } from "../src/testing/eventually.ts";
import { tempDir } from "../src/testing/temp-dir.ts";

const BIN = fileURLToPath(new URL("../bin/assay.js", import.meta.url));

test("ctrl-c ends the programs of an evaluation, and --resume resumes it", async () => {
  const folder = tempDir();
  const at = (name: string) => join(folder, name);
  const tasks = ["a", "b", "c"].map((taskId) => ({
    taskId,
    input: taskId,
    expected: { kind: "golden", match: { strategy: "exact", value: taskId } },
  }));
  writeFileSync(
    at("suite.json"),
    JSON.stringify({ suiteId: "acme.evals.slow", version: "1.0.0", modes: ["golden"], tasks }),
  );
  // The second task is not answered until there is a file `go`.
  writeFileSync(
    at("agent.mjs"),
    `import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
    const asked = JSON.parse(readFileSync(0, "utf8"));
    appendFileSync("asked", asked);
    if (asked === "b") { writeFileSync("pid.new", String(process.pid)); renameSync("pid.new", "pid"); }
    while (asked === "b" && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    console.log(asked);`,
  );
  const assay = async (argv: readonly string[], onStart: (child: ReturnType<typeof spawn>) => void = () => {}) => {
    const env = { ...process.env, ASSAY_URL: "" };
    const child = spawn(process.execPath, [BIN, "eval", ...argv], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env,
    });
    const [out, err]: [string[], string[]] = [[], []];
    child.stdout.setEncoding("utf8").on("data", (text: string) => out.push(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => err.push(text));
    onStart(child);
    const [code] = await once(child, "close");
    return { code, out: out.join(""), err: err.join("") };
  };
  const run = ["run", "suite.json", "--command", "node", "--arg", "agent.mjs"];
  let started: ReturnType<typeof spawn> | undefined;
  const first = assay([...run, "--concurrency", "1", "--output", "out.json", "--junit", "out.xml"], (child) => {
    started = child;
  });
  await eventually(() => expect(existsSync(at("pid"))).toBe(true));
  const pid = Number(readFileSync(at("pid"), "utf8"));
  // Meanwhile the folder can be looked at, and not written to.
  expect(await assay(["list"])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/acme\.evals\.slow@1\.0\.0 .* running/),
  });
  expect((await assay(["show"])).out).toContain("it is running");
  expect((await assay(["show", "latest", "a"])).out).toContain("Trial 1");
  expect((await assay(["baseline", "list"])).code).toBe(0);
  expect(await assay(["override", "latest", "a", "fail"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("another evaluation in this folder; wait for it"),
  });
  started?.kill("SIGINT");
  const { code, out, err } = await first;
  const runId = /--resume (run-[0-9a-z]+)/.exec(err)?.[1] ?? "";
  expect({ code, out, err }).toEqual({
    code: 130,
    out: "",
    err: expect.stringMatching(/interrupted\. There is no verdict, and no file was written\./),
  });
  expect(() => process.kill(pid, 0)).toThrow();
  expect([existsSync(at("out.json")), existsSync(at("out.xml"))]).toEqual([false, false]);
  expect((await assay(["show", "latest"])).out).toContain(
    `it was interrupted. To finish it, resume it with the same \`assay eval run\` command and --resume ${runId}.`,
  );
  expect((await assay(["list"])).out).toContain("interrupted; resume it with eval run --resume");
  writeFileSync(at("go"), "");
  expect(await assay([...run, "--resume", runId])).toMatchObject({
    code: 0,
    out: expect.stringContaining("3 of 3 tasks passed"),
  });
  expect(readFileSync(at("asked"), "utf8")).toBe("abbc");
});

test("an evaluation that is killed leaves no program and no half a file behind, and the next one is none the worse", async () => {
  const folder = tempDir();
  const at = (name: string) => join(folder, name);
  const task = { taskId: "one", input: 1, expected: { kind: "golden", match: { strategy: "exact", value: 1 } } };
  writeFileSync(
    at("suite.json"),
    JSON.stringify({ suiteId: "acme.evals.killed", version: "1.0.0", modes: ["golden"], tasks: [task] }),
  );
  // Endless the first time, with a child of its own.
  writeFileSync(
    at("agent.sh"),
    `read -r i; [ -e pid ] || { echo "$$" > pid.new; mv pid.new pid; sleep 600; }; echo "$i"`,
  );
  const args = ["eval", "run", "suite.json", "--command", "sh", "--arg", "agent.sh", "--output", "out.json"];
  const options = { cwd: folder, stdio: "ignore", env: { ...process.env, ASSAY_URL: "" } } as const;
  const first = spawn(process.execPath, [BIN, ...args], options);
  await eventually(() => expect(existsSync(at("pid"))).toBe(true));
  const group = Number(readFileSync(at("pid"), "utf8"));
  first.kill("SIGKILL");
  await once(first, "exit");
  await eventually(() => expect(() => process.kill(-group, 0)).toThrow());
  expect(existsSync(at("out.json"))).toBe(false);
  const [code] = await once(spawn(process.execPath, [BIN, ...args], options), "exit");
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(at("out.json"), "utf8"))).toMatchObject({ verdict: "passed" });
});

test("an evaluation that was killed goes on where it was, and what has its score is not run again", async () => {
  const folder = tempDir();
  const at = (name: string) => join(folder, name);
  const tasks = ["a", "b", "c"].map((taskId) => ({
    taskId,
    input: taskId,
    expected: { kind: "golden", match: { strategy: "exact", value: taskId } },
  }));
  const suite = { suiteId: "acme.evals.resumed", version: "1.0.0", modes: ["golden"], tasks };
  writeFileSync(at("suite.json"), JSON.stringify(suite));
  // Says each time what it was asked, and does not answer the second question until there is a file `go`.
  writeFileSync(
    at("agent.mjs"),
    `import { appendFileSync, existsSync, readFileSync } from "node:fs";
    const asked = JSON.parse(readFileSync(0, "utf8"));
    appendFileSync("asked", asked);
    while (asked === "b" && !existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    console.log(asked);`,
  );
  const run = (...more: string[]) => {
    const args = ["eval", "run", "suite.json", "--command", "node", "--arg", "agent.mjs", ...more];
    const env = { ...process.env, ASSAY_URL: "" };
    return spawn(process.execPath, [BIN, ...args], { cwd: folder, stdio: ["ignore", "ignore", "pipe"], env });
  };
  const ended = async (child: ReturnType<typeof run>) => {
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    const [code] = await once(child, "exit");
    return { code, err };
  };
  const first = run("--concurrency", "1");
  await eventually(() => expect(readFileSync(at("asked"), "utf8")).toBe("ab"));
  first.kill("SIGKILL");
  await once(first, "exit");
  writeFileSync(at("go"), "");
  expect(await ended(run("--resume", "latest", "--trials", "2"))).toMatchObject({
    code: 2,
    err: expect.stringContaining("leave --trials out"),
  });
  expect(await ended(run("--arg", "--another", "--resume", "latest"))).toMatchObject({
    code: 2,
    err: expect.stringContaining("is not installed as it was"),
  });
  writeFileSync(at("suite.json"), JSON.stringify({ ...suite, tasks: tasks.slice(1) }));
  expect(await ended(run("--resume", "latest"))).toMatchObject({
    code: 2,
    err: expect.stringContaining("other tasks"),
  });
  writeFileSync(at("suite.json"), JSON.stringify(suite));
  expect(await ended(run("--resume", "latest", "--output", "out.json"))).toMatchObject({ code: 0 });
  expect(readFileSync(at("asked"), "utf8")).toBe("abbc");
  expect(JSON.parse(readFileSync(at("out.json"), "utf8"))).toMatchObject({ verdict: "passed" });
  expect(await ended(run("--resume", "latest"))).toMatchObject({
    code: 2,
    err: expect.stringContaining("left unfinished"),
  });
});
