import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { DeploymentBench, SUITE } from "../../testing/deployment-bench.ts";
import { KEYS, type Who } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

let bench: DeploymentBench;
let url: string;
let folder: string;
beforeAll(async () => {
  bench = await DeploymentBench.on(await openSqliteStore({ path: ":memory:" }));
  url = await bench.host.listen();
  folder = tempDir();
});
afterAll(() => bench.host.close());

async function assay(argv: readonly string[], as: Who = "owner") {
  const io = recordedIo();
  const exit = await main([...argv], { io, env: { ASSAY_URL: url, ASSAY_KEY: KEYS[as].key }, cwd: folder });
  const err = io.errLines.map((line) => `${line}\n`).join("");
  return { exit, out: io.outText(), err };
}

const deploy = (name: string, ...flags: readonly string[]) => [
  "agent",
  "deploy",
  `local.test.${name}`,
  "1.0.0",
  ...flags,
];

describe("assay agent deploy", () => {
  test("promotes step by step, and shows the deployments", async () => {
    expect(await assay(deploy("cli", "--to", "test"))).toMatchObject({ exit: 0, err: "" });
    await assay(deploy("cli", "--to", "staged"));
    const active = await assay(deploy("cli", "--to", "active", "--channel", "canary", "--json"));
    expect(JSON.parse(active.out)).toMatchObject({ state: "active", channels: ["canary"] });
    const { out } = await assay(["agent", "deployments", "local.test.cli"]);
    expect(out.split("\n").slice(0, 2)).toEqual([
      "VERSION     STATE   CHANNELS  SHARE  EVALUATION  GATE",
      "1.0.0       active  canary    100 %  -           -",
    ]);
    expect((await assay(deploy("cli", "--pause"))).out).toContain("paused");
  });

  test("shows every condition of a refusal, with the value that is needed", async () => {
    await bench.about("strict").policy({ promote: { test: { requiredEval: { suite: SUITE } } } });
    const evalRunId = await bench.about("strict").evaluated("1.1.0");
    const { exit, err, out } = await assay(deploy("strict", "--to", "test", "--eval", evalRunId));
    expect({ exit, out }).toEqual({ exit: 1, out: "" });
    expect(err).toMatch(/^error: Not deployed\.\n/);
    expect(err).toContain("  ✓ authorisation: granted\n");
    expect(err).toContain("  ✗ agent version: 1.1.0; needed: 1.0.0\n");
    expect(err).toMatch(/✓ suite content: [0-9a-f]{12}…\n/);
    expect(err).toMatch(/More: assay run show run-/);
  });

  test("prints the conditions of a refusal as JSON too", async () => {
    const { exit, out, err } = await assay([...deploy("worded", "--to", "test"), "--json"], "viewer");
    expect({ exit, out }).toEqual({ exit: 3, out: "" });
    expect(JSON.parse(err)).toMatchObject({ error: "forbidden", details: { conditions: [{ met: false }] } });
  });

  test("waits for approval with --wait, and names the command that decides without it", async () => {
    const agent = bench.about("asked");
    await agent.policy({ promote: { test: { gate: { requiredRole: "reviewer" } } } });
    const first = await assay(deploy("asked", "--to", "test"));
    expect(first.exit).toBe(5);
    expect(first.err).toContain("it waits for approval");
    const [, runId = ""] = /assay resolve (run-\S+) gate-\1 accept\|reject/.exec(first.err) ?? [];
    const waiting = assay(deploy("asked", "--to", "test", "--wait", "20"));
    await agent.vote(runId, "granted");
    expect(await waiting).toMatchObject({ exit: 0, out: expect.stringContaining(`gate-${runId}`) });
  });

  test("exits with 1 when approval is refused", async () => {
    const agent = bench.about("turned-down");
    await agent.policy({ promote: { test: { gate: { requiredRole: "reviewer" } } } });
    const first = await assay([...deploy("turned-down", "--to", "test"), "--json"]);
    await agent.vote(JSON.parse(first.err).details.runId, "rejected");
    const { exit, err } = await assay(deploy("turned-down", "--to", "test"));
    expect(exit).toBe(1);
    expect(err).toContain("✗ approval: rejected by rita; needed: granted by 1 with role reviewer");
  });

  test.each([[[]], [["--to", "test", "--pause"]], [["--to", "live"]], [["--channel", "stable"]]])(
    "with %j is refused before anything is sent",
    async (flags) => {
      const { exit, out } = await assay(deploy("mistaken", ...flags));
      expect({ exit, out }).toEqual({ exit: 2, out: "" });
    },
  );
});

describe("assay policy", () => {
  test("sets, shows and removes the rules of transitions", async () => {
    const file = join(folder, "policy.json");
    const gate = { requiredRole: "reviewer", quorum: 2 };
    const strict = { suite: SUITE, requiredPassScore: 0.9, maxAgeSec: 604_800, requireCertificate: true };
    const rules = {
      promote: {
        staged: { requiredEval: { suite: SUITE } },
        active: { gate: { ...gate, minHumans: 1 }, requiredEval: strict },
      },
      rollback: { gate },
    };
    writeFileSync(file, JSON.stringify(rules));
    expect((await assay(["policy", "set", "default", file])).out).toBe("The policy of default is set (revision 1).\n");
    const { out } = await assay(["policy", "show", "default"]);
    expect(out.split("\n")).toEqual([
      "AGENT    TRANSITION         LET PASS BY                     EVALUATION",
      `default  promote to staged  none                            ${SUITE}, passed`,
      `default  promote to active  2 × reviewer, 1 of them people  ${SUITE}, at least 0.9, at most 7d old, judge certified`,
      "default  rollback           2 × reviewer                    none",
      "",
    ]);
    writeFileSync(file, "{}");
    await assay(["policy", "set", "local.test.free", file]);
    expect((await assay(["policy", "show", "local.test.free"])).out).toMatch(/free +everything +none +none\n$/);
    expect((await assay(["policy", "remove", "default"])).exit).toBe(0);
    expect((await assay(["policy", "show", "default"])).exit).toBe(2);
  });

  test("sets the modes and tasks that evidence needs by flags, for each evaluation that the file asks for", async () => {
    const file = join(folder, "covered.json");
    const step = { requiredEval: { suite: SUITE } };
    writeFileSync(file, JSON.stringify({ promote: { test: {}, staged: step }, pause: step }));
    const flags = ["--evidence-mode", "golden", "--evidence-task", "a,b", "--evidence-task", "c"];
    const set = await assay(["policy", "set", "local.test.covered", file, ...flags, "--json"]);
    const evidence = { modes: ["golden"], tasks: ["a", "b", "c"] };
    const { rules } = JSON.parse(set.out);
    expect(rules).toMatchObject({
      promote: { staged: { requiredEval: { evidence } } },
      pause: { requiredEval: { evidence } },
    });
    const { out } = await assay(["policy", "show", "local.test.covered"]);
    expect(out).toContain(`${SUITE}, passed, modes golden, tasks a and b and c`);
    const refused = async (...more: readonly string[]) => {
      const { exit, err } = await assay(["policy", "set", "local.test.refused", file, ...more]);
      expect(exit).toBe(2);
      return err;
    };
    expect(await refused("--evidence-mode", "rubric")).toContain("names rubric, which suite");
    expect(await refused("--evidence-task", "z")).toContain("names z, which suite");
    writeFileSync(file, JSON.stringify({ pause: { requiredEval: { suite: SUITE, evidence } } }));
    expect(await refused("--evidence-task", "a")).toContain("leave the flags out");
    writeFileSync(file, JSON.stringify({ pause: {} }));
    expect(await refused("--evidence-task", "a")).toContain("it has none");
  });

  test("names the problem of a file, and sets nothing", async () => {
    const file = join(folder, "wrong.json");
    writeFileSync(file, JSON.stringify({ promote: { active: { gate: { requiredRole: "wizard" } } } }));
    const wrong = await assay(["policy", "set", "local.test.wrong", file]);
    expect(wrong).toMatchObject({ exit: 2, err: expect.stringContaining("names the undefined role wizard") });
    writeFileSync(file, "{");
    expect((await assay(["policy", "set", "local.test.wrong", file])).exit).toBe(2);
    expect((await assay(["policy", "set", "local.test.wrong", join(folder, "absent.json")])).exit).toBe(2);
    expect((await assay(["policy", "show", "local.test.wrong"])).exit).toBe(2);
  });
});
