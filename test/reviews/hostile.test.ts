import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { providerFlags, reviewJson } from "../../src/testing/review-command.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay } from "../cli/assay.ts";

const PROGRAM = fileURLToPath(new URL("./hostile-provider.mjs", import.meta.url));
const MB = 1024 * 1024;

/** One turn with a provider that misbehaves. */
async function turnWith(what: string, flags: readonly string[] = [], content = "A plan.") {
  const { request, pids } = prepared(content);
  const args = ["turn", "--request", request, "--no-retry", "--review-kill-ms", "200", ...flags];
  const result = await reviewJson([...args, ...providerFlags(PROGRAM, what, pids)]);
  return { ...result, begun: begunIn(pids).length, left: survivors(pids) };
}

function prepared(content = "A plan.") {
  const folder = tempDir();
  const request = join(folder, "request.json");
  const artifact = { media_type: "text/plain", content };
  writeFileSync(request, JSON.stringify({ protocol_version: "1.2", iteration: 1, artifact }));
  return { request, pids: join(folder, "pids") };
}

function begunIn(pids: string): string[] {
  return existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n") : [];
}

/** Those that still run; one that has ended and that nobody asked about does not. */
function survivors(pids: string): string[] {
  const isRunning = (pid: string) => {
    try {
      process.kill(Number(pid), 0);
      return !existsSync("/proc/self") || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return false;
    }
  };
  return begunIn(pids).filter(isRunning);
}

describe.concurrent("a provider", () => {
  test.each(["endless", "endless and deaf"])("whose output has no end (%s) is stopped", async (what) => {
    const { json, exit, left } = await turnWith(what, ["--review-max-bytes", String(MB)]);
    expect(json).toMatchObject({ outcome: "timeout", ids: [], exit_code: null });
    expect({ exit, left }).toEqual({ exit: 1, left: [] });
  });

  test.each(["endless lines", "no finish reason"])("that writes line after line (%s) is stopped", async (what) => {
    const { json, left } = await turnWith(what, ["--review-max-lines", "2000"]);
    expect(json.outcome).toBe("timeout");
    expect(left).toEqual([]);
  });

  test("that ignores being asked to end is ended", async () => {
    const { json, left } = await turnWith("deaf", ["--review-max-lines", "1"]);
    expect(json).toMatchObject({ outcome: "timeout", exit_code: null });
    expect(left).toEqual([]);
  });

  test.each(["forks", "forks out of its group"])("that started others (%s) is ended with them", async (what) => {
    const { json, begun, left } = await turnWith(what, ["--review-max-lines", "1"]);
    expect(json.outcome).toBe("timeout");
    expect({ begun, left }).toEqual({ begun: 2, left: [] });
  });

  test("that ends and leaves others behind leaves none", async () => {
    const { json, begun, left } = await turnWith("forks and ends");
    expect(json).toMatchObject({ outcome: "response_success", ids: ["say-what-01"], warnings: [], exit_code: 0 });
    expect({ begun, left }).toEqual({ begun: 2, left: [] });
  });

  test.each(["answers and stays", "closes its output and stays", "goes on after its answer"])(
    "that does not end after its answer (%s) is stopped, and the answer is used",
    async (what) => {
      const { json, exit, left } = await turnWith(what, ["--review-grace-ms", "50"]);
      expect(json).toMatchObject({ outcome: "response_success", warnings: ["forced_stop"] });
      expect({ exit, left }).toEqual({ exit: 0, left: [] });
    },
  );

  test("that is killed after its answer has answered", async () => {
    const { json, exit } = await turnWith("is killed after its answer");
    expect(json).toMatchObject({ outcome: "response_success", warnings: ["forced_stop"], exit_code: null });
    expect(exit).toBe(0);
  });

  test("that only complains, and for ever, is stopped", async () => {
    const { json, left } = await turnWith("talks on stderr for ever", ["--review-timeout-ms", "300"]);
    expect(json).toMatchObject({ outcome: "timeout", exit_code: null });
    expect(left).toEqual([]);
  });

  test("may not care for the request", async () => {
    const { json } = await turnWith("ends without reading", [], "x".repeat(4 * MB));
    expect(json).toMatchObject({ outcome: "response_success", warnings: [] });
  });

  test("may say more on standard error than anybody reads", async () => {
    expect((await turnWith("talks on stderr")).json.outcome).toBe("response_success");
  });
});

describe.concurrent("a stream", () => {
  test("may come byte by byte", async () => {
    const { json } = await turnWith("byte by byte");
    expect(json.response.feedback.general_summary).toBe("Grüße, 世界 🌍");
  });

  test("that breaks off within a character is cut", async () => {
    expect((await turnWith("cut in a character")).json).toMatchObject({ outcome: "stream_cut", response: null });
  });

  test("with an answer that is nested too deep to be written down has no answer", async () => {
    const { json } = await turnWith("deep");
    expect(json).toMatchObject({ outcome: "unparseable_answer", response: null });
  });

  test("of braces and blanks is gone through in a moment", async () => {
    expect((await turnWith("braces")).json.outcome).toBe("unparseable_answer");
  });
});

describe("memory", () => {
  // Twice what a stream may hold, once more while it is taken apart, and what Node itself needs.
  const env = { NODE_OPTIONS: "--max-old-space-size=384" };

  test.each([
    ["long line", { outcome: "response_success", ids: ["say-what-01"] }],
    ["longer line", { outcome: "timeout", ids: [] }],
  ])("is bounded with a %s", async (what, expected) => {
    const { request, pids } = prepared();
    const args = [
      "review",
      "turn",
      "--request",
      request,
      "--no-retry",
      "--json",
      ...providerFlags(PROGRAM, what, pids),
    ];
    const { stdout, stderr } = await assay(args, { env });
    expect(stderr).toBe("");
    const { outcome, ids } = JSON.parse(stdout);
    expect({ outcome, ids }).toEqual(expected);
    expect(survivors(pids)).toEqual([]);
  });
});
