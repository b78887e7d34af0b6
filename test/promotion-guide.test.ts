import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../src/cli/program/commands.ts";
import { codeBlocks, section } from "../src/testing/guide.ts";
import { tempDir } from "../src/testing/temp-dir.ts";
import { type Server, serve } from "./cli/in-process.ts";
import { type ShellPrograms, shellPrograms } from "./cli/shell-programs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (page: string) => readFileSync(join(root, "docs", page), "utf8");
const promotion = read("promotion.md");
const guide = section(promotion, "## From nothing to a gate in CI");
const [start = "", policy = "", ci = "", rita = ""] = codeBlocks(guide, "bash");

const folder = tempDir();
let programs: ShellPrograms;
let server: Server;

beforeAll(async () => {
  cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
  programs = await shellPrograms();
  const typed = start.split("\n").find((line) => line.startsWith("assay serve "));
  await shell(start.replace(typed ?? "", ""));
  server = await serve((typed ?? "").split(" ").slice(2), { cwd: folder });
});
afterAll(async () => {
  programs.close();
  await server.stop();
});

/** As somebody pastes it into a shell that stops at the first line that fails. */
async function shell(script: string): Promise<{ status: number; stdout: string; stderr: string }> {
  const PATH = `${programs.folder}${delimiter}${process.env["PATH"]}`;
  const env = { PATH, ...(server === undefined ? {} : { ASSAY_URL: server.url }) };
  const typed = script.replaceAll("http://127.0.0.1:4100", server?.url ?? "");
  try {
    return { status: 0, ...(await promisify(execFile)("sh", ["-ec", typed], { cwd: folder, env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

function withoutNow(text: string): string {
  return text
    .replaceAll(/(gate-)?run-([0-9a-z]{20,}|…)/g, "$1run-…")
    .replaceAll(/\d+ seconds?/g, "… seconds")
    .replaceAll(/[0-9a-f]{12}…/g, "…");
}

describe("the guides to agents and promotion, on the host that they start", () => {
  test("show the agents that are there", async () => {
    const [commands = ""] = codeBlocks(read("agents.md"), "bash");
    const typed = commands.split("\n").filter((line) => /^assay agent/.test(line));
    expect(typed).toHaveLength(2);
    const { status, stdout } = await shell(`export ASSAY_KEY=owner-key-0123456789\n${typed.join("\n")}`);
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("local.acme.support.refunds"),
    });
  });

  test("bring a version to people and, when they agree, into service", async () => {
    expect(await shell(policy)).toMatchObject({ status: 0, stdout: expect.stringContaining("at most 7d old") });
    const waiting = await shell(ci.replace(" --wait 3600", ""));
    expect(waiting.status).toBe(5);
    const shown = guide.split("```").find((block) => block.includes("error: Not deployed yet")) ?? "";
    // The evaluation before it says where it takes place; the page shows what the last line says.
    const [place = "", ...ofLast] = waiting.stderr.split("\n");
    expect(place).toMatch(/^assay: evaluating at http/);
    expect(withoutNow(ofLast.join("\n"))).toBe(withoutNow(shown.trimStart()));

    const last = ci.trimEnd().split("\n").at(-1) ?? "";
    const names = ci.split("\n").filter((line) => /^(export|AGENT|RUN)/.test(line));
    const deployed = shell([...names, last].join("\n"));
    expect(await shell(rita)).toMatchObject({ status: 0, stdout: expect.stringContaining("granted") });
    expect(await deployed).toMatchObject({ status: 0, stdout: expect.stringMatching(/^state +active$/m) });
  });

  test("name only commands that there are", () => {
    const known = COMMANDS.map(({ name }) => name);
    for (const page of ["agents.md", "promotion.md", "evals.md", "formats/judge.md", "statistics.md"]) {
      const named = [...read(page).matchAll(/assay ((?:agent|policy|suite|judge|eval(?: baseline)?) [a-z-]+)/g)];
      expect(named.map((match) => match[1] ?? "").filter((name) => !known.includes(name))).toEqual([]);
    }
  });
});
