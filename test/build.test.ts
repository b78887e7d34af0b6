import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, test } from "vitest";
import { tempDir } from "../src/testing/temp-dir.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const good = "export async function main(argv: string[]): Promise<number> {\n  console.log(argv);\n  return 3;\n}\n";
const BUILDING = "assay: building, this takes a few seconds…\n";
const WAITING = "assay: waiting for another process that is building…\n";
let checkout: string;

beforeEach(() => {
  checkout = tempDir();
  for (const name of ["bin", "package.json", "tsconfig.json", "tsconfig.build.json", "console/public"]) {
    cpSync(join(repository, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(repository, "node_modules"), join(checkout, "node_modules"));
  write("src/cli/main.ts", good);
  write("src/cli/local.ts", "export {};\n");
  write("src/store/sqlite/writer-thread.ts", "export {};\n");
  write("src/cli/wiring/turn-thread.ts", "export {};\n");
  write("src/engine/schemas/schema-thread.ts", "export {};\n");
  write("src/engine/secrets/scrub-thread.ts", "export {};\n");
  write("src/cli/main.test.ts", "not even TypeScript");
});

describe("a checkout that was never built", () => {
  test("builds on first use, hands over the arguments and takes the exit code", async () => {
    expect(await node("bin/assay.js", "run", "--x")).toMatchObject({ code: 3, stdout: "[ 'run', '--x' ]\n" });
  });

  test("says on standard error that it is building, and is silent when nothing is built", async () => {
    expect(await node("bin/assay.js")).toEqual({ code: 3, stdout: "[]\n", stderr: BUILDING });
    expect(await node("bin/assay.js")).toEqual({ code: 3, stdout: "[]\n", stderr: "" });
    write("src/cli/main.ts", good.replace("return 3", "return 4"));
    expect(await node("bin/assay.js")).toEqual({ code: 4, stdout: "[]\n", stderr: BUILDING });
  });

  test("answers --version without building", async () => {
    const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
    expect(await node("bin/assay.js", "--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    expect(readdirSync(checkout)).not.toContain("dist");
  });

  test("serves many processes that start together and leaves nothing behind", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => node("bin/assay.js")));
    expect(answers).toMatchObject(answers.map(() => ({ code: 3, stdout: "[]\n" })));
    expect(answers.filter(({ stderr }) => stderr.includes(BUILDING))).toHaveLength(1);
    for (const { stderr } of answers) expect(["", BUILDING, WAITING]).toContain(stderr);
    expect(readdirSync(checkout).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("is built although a killed build left its lock", async () => {
    write("dist-lock.tmp/pid", "4194305");
    expect(await node("bin/build.js")).toMatchObject({ code: 0 });
  });
});

describe("a built checkout", () => {
  beforeEach(async () => {
    write("src/formats/tape.ts", "export const tape = 1;\n");
    await node("bin/build.js");
  });

  test("holds the console's pages and source maps that find the sources, but no tests", () => {
    expect(readdirSync(join(checkout, "dist/console"))).toContain("index.html");
    expect(JSON.parse(read("dist/cli/main.js.map")).sources).toEqual(["../../src/cli/main.ts"]);
    expect(readdirSync(join(checkout, "dist/cli"))).not.toContain("main.test.js");
  });

  test("is left alone while nothing changes but tests", async () => {
    const before = builtAt();
    write("src/cli/main.test.ts", "other");
    await node("bin/build.js");
    expect(builtAt()).toBe(before);
    await node("bin/build.js", "--force");
    expect(builtAt()).not.toBe(before);
  });

  test("follows a changed and a deleted file", async () => {
    write("src/cli/main.ts", good.replace("return 3", "return 4"));
    rmSync(join(checkout, "src/formats/tape.ts"));
    expect(await node("bin/assay.js")).toMatchObject({ code: 4 });
    expect(readdirSync(join(checkout, "dist/formats"))).toEqual([]);
  });

  test("is kept when the sources do not compile, and says why", async () => {
    const before = read("dist/cli/main.js");
    write("src/cli/main.ts", "export const main: number = 'three';\n");
    const { code, stdout, stderr } = await node("bin/assay.js");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("src/cli/main.ts(1,14): error TS2322");
    expect(read("dist/cli/main.js")).toBe(before);
  });

  test("runs as it is when the packages that build it are gone", async () => {
    rmSync(join(checkout, "node_modules"));
    write("src/cli/main.ts", good.replace("return 3", "return 4"));
    const { code, stderr } = await node("bin/assay.js");
    expect(code).toBe(3);
    expect(stderr).toMatch(/^assay: dist is older than the sources, but .* not installed; using dist as it is\n$/);
  });

  // Root may write anywhere.
  test.skipIf(process.getuid?.() === 0)("runs as it is when this user may not write to it", async () => {
    write("src/cli/main.ts", good.replace("return 3", "return 4"));
    chmodSync(checkout, 0o555);
    const { code, stderr } = await node("bin/assay.js");
    chmodSync(checkout, 0o755);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^assay: dist is older than the sources, but .* may not write here; using dist as it is\n$/);
  });

  test("runs without its sources, as an installed package does", async () => {
    rmSync(join(checkout, "src"), { recursive: true });
    rmSync(join(checkout, "node_modules"));
    expect(await node("bin/build.js")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await node("bin/assay.js", "a")).toEqual({ code: 3, stdout: "[ 'a' ]\n", stderr: "" });
  });
});

function write(path: string, text: string): void {
  mkdirSync(join(checkout, path, ".."), { recursive: true });
  writeFileSync(join(checkout, path), text);
}

function read(path: string): string {
  return readFileSync(join(checkout, path), "utf8");
}

function builtAt(): number {
  return statSync(join(checkout, "dist/.built")).mtimeMs;
}

function node(script: string, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [join(checkout, script), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
