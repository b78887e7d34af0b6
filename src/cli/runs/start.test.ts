import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEYS, type TestHost, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

describe("runs on the command line", () => {
  let host: TestHost;
  let env: Record<string, string>;
  beforeAll(async () => {
    host = await testHost({ worker: true });
    env = { ASSAY_URL: await host.listen(), ASSAY_KEY: KEYS.owner.key };
  });
  afterAll(() => host.close());

  async function assay(...argv: string[]) {
    const io = recordedIo();
    const code = await main(argv, { io, env, cwd: tempDir() });
    return { code, out: io.outLines.join("\n"), err: io.errLines.join("\n") };
  }

  test("are started with metadata, whose values are JSON where they parse as JSON", async () => {
    const started = await assay(
      "run",
      "start",
      "noop",
      "--metadata",
      "agentId=writer",
      "--metadata",
      "n=3",
      "--wait",
      "--json",
    );
    expect(JSON.parse(started.out)).toMatchObject({ metadata: { agentId: "writer", n: 3 } });
    const { runId } = JSON.parse(started.out);
    expect((await assay("run", "show", runId)).out).toMatch(/^Metadata +agentId=writer, n=3$/m);
    expect(await assay("run", "start", "noop", "--metadata", "writer")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--metadata writer must look like NAME=VALUE"),
    });
  });

  test("are listed by tag, agent and time", async () => {
    const tagged = (await assay("run", "start", "noop", "--tag", "nightly", "--metadata", "agentId=critic")).out;
    const ids = async (...flags: string[]) => {
      const { out } = await assay("run", "list", "--json", ...flags);
      return JSON.parse(out).runs.map(({ runId }: { runId: string }) => runId);
    };
    expect(await ids("--tag", "nightly")).toEqual([tagged]);
    expect(await ids("--agent", "critic", "--since", "1h")).toEqual([tagged]);
    expect(await ids("--agent", "critic", "--until", "2020-01-01")).toEqual([]);
    expect(await assay("run", "list", "--tag", "none")).toMatchObject({ code: 0, err: "No runs match." });
  });

  test("that cannot be started or found are explained with commands and flags", async () => {
    expect((await assay("run", "start", "nop")).err).toBe(
      'error: no workflow "nop" is registered (did you mean "noop"?); `assay workflow list` shows what there is.',
    );
    expect((await assay("workflow", "show", "nop")).err).toContain(
      "There is no workflow nop here that this key can see. Did you mean noop?",
    );
    expect((await assay("run", "show", "run-1")).err).toBe(
      "error: There is no run run-1 here that this key can see. `assay run list` lists them.",
    );
    expect((await assay("key", "create", "--principal", "ci", "--roles", "viewr")).err).toBe(
      'error: roles: there is no role "viewr"; did you mean "viewer"?',
    );
    expect((await assay("run", "list", "--status", "odd")).err).toContain("Use one of pending, running");
  });
});
