import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../src/cli/program/commands.ts";
import type { OutcomeName } from "../src/formats/reviews/outcome.ts";
import { ownPrograms, steps } from "../src/testing/guide.ts";
import { tempDir } from "../src/testing/temp-dir.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/reviews.md"), "utf8");

function sectionOf(heading: string): string {
  return page.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
}

/** Every outcome; the compiler sees to it that none is missing. */
const OUTCOMES: Readonly<Record<OutcomeName, true>> = {
  spawn_failed: true,
  session_mismatch: true,
  wrong_agent: true,
  response_success: true,
  response_error: true,
  timeout: true,
  tool_error: true,
  stream_cut: true,
  invalid_answer: true,
  unparseable_answer: true,
  session_not_found: true,
  tool_failed: true,
  no_answer: true,
};

describe("the guide to peer reviews", () => {
  test("shows what comes of its commands, in their order", async () => {
    const cwd = tempDir();
    const PATH = `${ownPrograms()}${delimiter}${process.env["PATH"]}`;
    const typed = steps(sectionOf("Five minutes without"));
    expect(typed).toHaveLength(6);
    for (const { command, shown } of typed) {
      const { stdout } = await promisify(execFile)("sh", ["-c", `exec 2>&1; ${command}`], {
        cwd,
        env: { PATH, HOME: cwd },
      });
      const said = stdout.replaceAll(cwd, "/home/ada/work").replaceAll(/plan-md-\w{6}/g, "plan-md-k3f9q2");
      expect(`$ ${command}\n${said}`).toBe(`$ ${command}\n${shown}`);
    }
  });

  test("lists every outcome in the order in which they count", () => {
    const rows = [...sectionOf("Outcomes").matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
    expect(rows).toEqual(Object.keys(OUTCOMES));
  });

  test("names only commands that there are", () => {
    const named = [...page.matchAll(/assay (review \w+)/g)].map((match) => match[1] ?? "");
    const known = COMMANDS.map(({ name }) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});
