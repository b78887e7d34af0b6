import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { codeBlocks, section } from "../src/testing/guide.ts";
import { tempDir } from "../src/testing/temp-dir.ts";
import { start } from "./cli/in-process.ts";
import { shellPrograms } from "./cli/shell-programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const TIMEOUT_MS = 300_000;

/** The lines of the README that a person types, from the second terminal on. */
function typedLines(): string[] {
  const blocks = codeBlocks(section(readme, "## Run it"), "");
  const first = blocks.findIndex((block) => block.startsWith("export ASSAY_KEY="));
  return blocks.slice(first).flatMap((block) => block.trimEnd().split("\n"));
}

/** All lines in one shell, in their order; the exit code of each. */
async function typed(lines: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const codes = join(tempDir(), "codes");
  const script = join(tempDir(), "readme.sh");
  writeFileSync(script, lines.map((line) => `${line}\necho $? >> "${codes}"\n`).join(""));
  const shell = spawn("bash", [script], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding("utf8").on("data", (text) => said.push(text));
  await once(shell, "close");
  const ended = readFileSync(codes, "utf8").trim().split("\n").map(Number);
  return { said: said.join(""), ended: lines.map((line, i) => ({ line, code: ended[i] })) };
}

test("the README can be followed line by line while the server runs in the same folder", {
  timeout: TIMEOUT_MS,
}, async () => {
  const folder = tempDir();
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  const server = start(["serve", "--port", "0", "--json"], { cwd: folder });
  await server.until((stdout) => stdout.includes("\n"));
  const { url, ownerKey } = JSON.parse(server.stdout().split("\n")[0] ?? "") as { url: string; ownerKey: string };
  const lines = typedLines().map((line) => line.replace("ASSAY_KEY=assay_…", `ASSAY_KEY=${ownerKey}`));
  expect(lines.filter((line) => line.includes("assay eval "))).toHaveLength(3);
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("ASSAY_"));
  const programs = await shellPrograms();
  const path = `${programs.folder}${delimiter}${process.env["PATH"]}`;
  const env = { ...Object.fromEntries(inherited), PATH: path, ASSAY_URL: url };
  const { said, ended } = await typed(lines, folder, env);
  const expected = lines.map((line) => ({ line, code: line.includes("# worse: exit code 1") ? 1 : 0 }));
  expect(ended, said).toEqual(expected);
  programs.close();
  await server.stop();
});
