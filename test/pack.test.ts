import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { tempDir } from "../src/testing/temp-dir.ts";
import { start } from "./cli/assay.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const run = promisify(execFile);
const repository = fileURLToPath(new URL("..", import.meta.url));
/** Where the packed files lie, as npm would have put them. */
let installed: string;

beforeAll(async () => {
  const folder = tempDir();
  // Without scripts: `prepack` would build, and `dist` is built already.
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: repository });
  const [archive = ""] = readdirSync(folder);
  await run("tar", ["-xzf", archive], { cwd: folder });
  installed = join(folder, "package");
  // The one package that is not in the bundle, because it has native code; node_modules of the checkout is out of reach.
  mkdirSync(join(installed, "node_modules"));
  symlinkSync(join(repository, "node_modules/@photostructure"), join(installed, "node_modules/@photostructure"));
});

describe("the packed program", () => {
  test("answers and serves without sources and without the packages it was built with", async () => {
    const bin = join(installed, "bin/assay.js");
    const version = start(["--version"], { bin });
    expect(await version.ended).toBe(0);
    expect(version.stdout()).toBe(`${JSON.parse(read("package.json")).version}\n`);

    const server = start(["serve", "--port", "0", "--json", "--data", tempDir()], { bin });
    await server.until((stdout) => stdout.includes("\n"));
    const { url } = JSON.parse(server.stdout());
    expect((await fetch(`${url}/console/`)).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  });

  test("names the packages that models need, and the command that installs them", async () => {
    const agents = join(tempDir(), "agents.json");
    writeFileSync(agents, JSON.stringify({ models: { m: { provider: "openai", model: "m", apiKeyEnv: "KEY" } } }));
    const server = start(["serve", "--agents", agents, "--port", "0", "--data", tempDir()], {
      bin: join(installed, "bin/assay.js"),
    });
    expect(await server.ended).not.toBe(0);
    expect(server.stderr()).toContain("run `npm install ai @ai-sdk/openai`");
  });

  test("brings one package with native code, and those for models only where they are wanted", () => {
    const { dependencies, peerDependenciesMeta } = JSON.parse(read("package.json"));
    expect(Object.keys(dependencies)).toEqual(["@photostructure/sqlite"]);
    for (const name of ["ai", "@ai-sdk/anthropic", "@ai-sdk/openai", "@modelcontextprotocol/sdk"]) {
      expect(peerDependenciesMeta[name]).toEqual({ optional: true });
    }
  });

  test("names no folder of the machine it was built on", () => {
    expect(files().filter((file) => read(file).includes(repository))).toEqual([]);
  });

  test("holds no tests, no sources and no modules beside the bundle", () => {
    expect(readdirSync(installed).sort()).toEqual(
      [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "bin",
        "dist",
        "docs",
        "examples",
        "node_modules",
        "package.json",
      ].sort(),
    );
    expect(readdirSync(join(installed, "dist")).sort()).toEqual(["bundle", "console"]);
  });

  test("holds the licences of what is bundled", () => {
    const notices = read("dist/bundle/THIRD-PARTY-NOTICES.txt");
    for (const name of ["fastify", "kysely", "markdown-it", "pg", "pino", "typebox"]) {
      expect(notices).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, "m"));
    }
  });
});

function files(): string[] {
  const all = readdirSync(installed, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
}

function read(file: string): string {
  return readFileSync(join(installed, file), "utf8");
}
