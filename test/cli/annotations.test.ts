import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import * as processes from "./assay.ts";
import { workflowFolder } from "./assay.ts";
import { assay, type Ended, type Running, type Server, serve, start } from "./in-process.ts";

const KEYS = {
  owner: { key: "key-of-the-owner-of-all", role: "owner" },
  ana: { key: "key-of-ana-the-reviewer", role: "reviewer" },
  vic: { key: "key-of-vic-the-viewer", role: "viewer" },
  critic: { key: "key-of-critic-the-agent", role: "reviewer", kind: "agent" },
} as const;
type Who = keyof typeof KEYS;

let server: Server;
beforeAll(async () => {
  const file = join(tempDir(), "keys.json");
  const entries = Object.entries(KEYS).map(([principal, { key, role, ...more }]) => {
    return { key, tenant: "t1", principal, roles: [role], ...more };
  });
  writeFileSync(file, JSON.stringify(entries));
  const args = ["--data", tempDir(), "--keys", file, "--workflows", workflowFolder()];
  server = await serve(args, { key: KEYS.owner.key });
});

function environment(who: Who): Record<string, string> {
  return { ASSAY_URL: server.url, ASSAY_KEY: KEYS[who].key };
}

function as(who: Who, ...args: string[]): Promise<Ended> {
  return assay(args, { env: environment(who) });
}

async function newRun(): Promise<string> {
  const started = await server.client("run", "start", "greet", "--wait", "--json");
  return JSON.parse(started.stdout).runId;
}

async function annotate(who: Who, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await as(who, "annotate", ...args);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^ann-\w{26}\n$/);
  return stdout.trim();
}

describe("annotate", () => {
  test("prints the id, and with --json the whole judgment", async () => {
    const runId = await newRun();
    const first = await annotate("ana", runId, "--rating", "2", "--note", "too short", "--node", "say");
    const { stdout } = await as("ana", "annotate", runId, "--up", "--supersedes", first, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      target: { runId },
      signal: { kind: "rating", rating: 5 },
      actor: { principalRef: "ana" },
      actorKind: "person",
      supersedes: first,
      state: "live",
    });
    const down = JSON.parse((await as("critic", "annotate", runId, "--down", "--confidence", ".8", "--json")).stdout);
    expect(down).toMatchObject({ signal: { rating: 1 }, actorKind: "agent", confidence: 0.8 });
  });

  test("takes a correction from a file and from standard input", async () => {
    const runId = await newRun();
    const file = join(tempDir(), "better.txt");
    writeFileSync(file, "Hello,\nworld!\n");
    await annotate("ana", runId, "--correction", `@${file}`);
    const options = { env: environment("ana"), stdin: "Hi\n" };
    const piped = await processes.assay(["annotate", runId, "--correction", "-"], options);
    expect(piped.code).toBe(0);
    const { annotations } = JSON.parse((await as("vic", "annotations", runId, "--json")).stdout);
    const corrections = annotations.map(({ signal }: { signal: { correction: string } }) => signal.correction);
    expect(corrections).toEqual(["Hi", "Hello,\nworld!"]);
  });

  test("withdraws a judgment and closes a flag, once", async () => {
    const runId = await newRun();
    const flag = await annotate("ana", runId, "--flag", "--note", "is this right?");
    const rating = await annotate("ana", runId, "--rating", "4");
    expect(await as("owner", "annotate", "--close", flag, "--note", "it is")).toEqual({
      code: 0,
      stdout: `${flag} closed\n`,
      stderr: "",
    });
    expect(await as("ana", "annotate", "--retract", rating, "--reason", "wrong run")).toMatchObject({
      stdout: `${rating} retracted\n`,
    });
    expect(await as("owner", "annotate", "--close", flag, "--note", "again")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("closed already"),
    });
  });

  test("tells by its exit code what is wrong, and what to do", async () => {
    const runId = await newRun();
    const theirs = await annotate("owner", runId, "--up");
    const refused = async (who: Who, ...args: string[]) => {
      const { code, stdout, stderr } = await as(who, "annotate", ...args);
      expect(stdout).toBe("");
      return [code, stderr];
    };
    expect(await refused("ana", runId)).toEqual([2, expect.stringContaining("say what you judge")]);
    expect(await refused("ana", runId, "--up", "--flag")).toEqual([2, expect.stringContaining("two things")]);
    expect(await refused("ana", runId, "--rating", "6")).toEqual([2, expect.stringContaining("1, 2, 3, 4, 5")]);
    expect(await refused("ana", "--flag")).toEqual([2, expect.stringContaining("name the run")]);
    expect(await refused("ana", "--retract", theirs)).toEqual([2, expect.stringContaining("--reason")]);
    expect(await refused("ana", "run-unknown", "--flag")).toEqual([2, expect.stringContaining("run")]);
    expect(await refused("ana", runId, "--flag", "--node", "nowhere")).toEqual([2, expect.stringContaining("nodeId")]);
    expect(await refused("ana", runId, "--up", "--confidence", "1")).toEqual([2, expect.stringContaining("agent")]);
    expect(await refused("ana", "--retract", theirs, "--reason", "x")).toEqual([3, expect.stringContaining("author")]);
    expect(await refused("vic", runId, "--flag")).toEqual([3, expect.stringContaining("runs:annotate")]);
    const [code, json] = await refused("ana", runId, "--flag", "--event", "evt-unknown", "--json");
    expect([code, JSON.parse(String(json)).error]).toEqual([2, "validation_error"]);
  });
});

describe("annotations", () => {
  test("are a table for people: newest first, with a state only where it is not live", async () => {
    const runId = await newRun();
    expect(await as("vic", "annotations", runId)).toEqual({ code: 0, stdout: "", stderr: "No judgments match.\n" });
    const first = await annotate("ana", runId, "--rating", "2", "--note", "too\nshort", "--node", "say");
    const second = await annotate("ana", runId, "--rating", "4", "--supersedes", first);
    const third = await annotate("critic", runId, "--label", "pass", "--confidence", "0.5");
    const { stdout } = await as("vic", "annotations", runId);
    const [heading, ...lines] = stdout.trimEnd().split("\n");
    expect(heading).toMatch(/^ANNOTATION +WHEN +WHO +SIGNAL +TARGET +NOTE$/);
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^${third} +\\S.* critic \\(agent\\) +label pass, sure 0.5 +run$`)),
      expect.stringMatching(new RegExp(`^${second} +\\S.* ana +rating 4 +run$`)),
      expect.stringMatching(new RegExp(`^${first} +\\S.* ana +rating 2, superseded +node say +too short$`)),
    ]);
    const long = await annotate("ana", runId, "--flag", "--note", `see ${"very ".repeat(100)}long`);
    const cut = (await as("vic", "annotations", runId, "--flagged")).stdout.trimEnd().split("\n");
    expect(cut[1]).toMatch(new RegExp(`^${long} .*very.*…$`));
    expect((await as("vic", "annotations", "--flagged")).stdout).toContain(`  ${runId}  `);
  });

  test("are found by filters and words, and as JSON", async () => {
    const runId = await newRun();
    const rating = await annotate("ana", runId, "--rating", "2", "--note", "the zeppelin is late");
    const label = await annotate("critic", runId, "--label", "tone", "--node", "say");
    const ids = async (...args: string[]) => {
      const { code, stdout, stderr } = await as("vic", "annotations", runId, ...args, "--json");
      expect([code, stderr]).toEqual([0, ""]);
      const { annotations } = JSON.parse(stdout) as { annotations: { annotationId: string }[] };
      return annotations.map(({ annotationId }) => annotationId);
    };
    expect(await ids()).toEqual([label, rating]);
    expect(await ids("--signal", "rating")).toEqual([rating]);
    expect(await ids("--label", "tone")).toEqual([label]);
    expect(await ids("--actor", "ana", "--actor-kind", "person")).toEqual([rating]);
    expect(await ids("--node", "say", "--workflow", "greet")).toEqual([label]);
    expect(await ids("--agent", "nobody")).toEqual([]);
    expect(await ids("--state", "retracted")).toEqual([]);
    expect(await ids("--search", "zepp LATE")).toEqual([rating]);
    expect(await ids("--from", "1h")).toEqual([label, rating]);
    expect(await ids("--to", "2020-01-31")).toEqual([]);
    expect(await ids("--limit", "1")).toEqual([label]);
    expect(await ids("--all")).toEqual([label, rating]);
    const page = JSON.parse((await as("vic", "annotations", runId, "--limit", "1", "--json")).stdout);
    expect(page.nextCursor).toEqual(expect.any(String));
    for (const args of [
      ["--state", "gone"],
      ["--from", "lately"],
      ["--limit", "1", "--all"],
      ["--watch", "--search", "x"],
    ]) {
      expect(await as("vic", "annotations", ...args)).toMatchObject({ code: 2, stdout: "" });
    }
  });

  test("are watched as they change", async () => {
    const runId = await newRun();
    const watching: Running = start(["annotations", runId, "--watch"], { env: environment("vic") });
    const programs = start(["annotations", runId, "--watch", "--json"], { env: environment("vic") });
    // What is recorded before a stream is open is not shown by it, so it is tried until it is.
    while ([watching, programs].some((one) => one.stdout() === "")) {
      await annotate("ana", runId, "--label", "probe");
    }
    const flag = await annotate("ana", runId, "--flag", "--note", "look here");
    await watching.until((text) => text.includes(`recorded    ${flag}  ana  flag  ${runId}  look here\n`));
    await as("owner", "annotate", "--close", flag, "--note", "looked");
    await watching.until((text) =>
      text.includes(`closed      ${flag}  ana  flag, closed  ${runId}  look here | closed: looked`),
    );
    await programs.until((text) => text.includes("annotation.closed"));
    const news = programs
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(news.at(-1)).toMatchObject({
      event: "annotation.closed",
      data: { annotationId: flag, flag: { status: "closed", closedBy: "owner", note: "looked" } },
    });
    for (const running of [watching, programs]) expect(await running.stop()).toBe(0);
  });
});

describe("inbox --flagged", () => {
  test("shows flagged runs until their flags are closed", async () => {
    const runId = await newRun();
    const flag = await annotate("critic", runId, "--flag", "--note", "odd greeting", "--node", "say");
    const { stdout } = await as("ana", "inbox", "--flagged");
    expect(stdout).toMatch(/^AGE +WORKFLOW +FLAGGED +BY +NOTE +ANNOTATION\n/m);
    expect(stdout).toMatch(new RegExp(`greet +${runId} node say +critic \\(agent\\) +odd greeting +${flag}\n`));
    const page = JSON.parse((await as("ana", "inbox", "--flagged", "--json")).stdout);
    expect(page.flagged).toContainEqual(expect.objectContaining({ annotationId: flag, nodeId: "say" }));
    await as("ana", "annotate", "--close", flag, "--note", "it is fine");
    expect((await as("ana", "inbox", "--flagged")).stdout).not.toContain(flag);
    expect(await as("ana", "inbox", "--flagged", "--watch")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("assay annotations --flagged --watch"),
    });
  });
});

describe("a key of kind code", () => {
  test("makes judgments that are counted as neither a person's nor an agent's", async () => {
    const made = await server.client("key", "create", "--principal", "lint", "--kind", "code", "--roles", "reviewer");
    const env = { ASSAY_URL: server.url, ASSAY_KEY: made.stdout.trim() };
    const judged = await assay(["annotate", await newRun(), "--label", "pass", "--json"], { env });
    expect(JSON.parse(judged.stdout)).toMatchObject({ actor: { principalRef: "lint" }, actorKind: "code" });
    expect((await server.client("key", "list")).stdout).toContain("lint (code)");
  });
});
