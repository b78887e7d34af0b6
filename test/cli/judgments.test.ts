import { createWriteStream, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { IS_LONG_FORM } from "../../src/testing/long-form.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import * as processes from "./assay.ts";
import { workflowFolder } from "./assay.ts";
import { assay, type Server, serve } from "./in-process.ts";

const KEYS = { owner: "key-of-the-owner-of-all", vic: "key-of-vic-the-viewer", bot: "key-of-bot-the-reviewer" };

let here: Server;
let there: processes.Server;

beforeAll(async () => {
  const keys = join(tempDir(), "keys.json");
  writeFileSync(
    keys,
    JSON.stringify([
      { key: KEYS.owner, tenant: "t1", principal: "ada", roles: ["owner"] },
      { key: KEYS.vic, tenant: "t1", principal: "vic", roles: ["viewer"] },
      { key: KEYS.bot, tenant: "t1", principal: "bot", kind: "agent", roles: ["reviewer"] },
    ]),
  );
  const args = () => ["--data", tempDir(), "--keys", keys, "--workflows", workflowFolder()];
  here = await serve(args(), { key: KEYS.owner });
  // Room for what a host needs at any time, and not for a file in memory.
  there = await processes.serve(args(), { key: KEYS.owner, env: { NODE_OPTIONS: "--max-old-space-size=160" } });
});

type Host = Pick<Server, "url">;
const at = ({ url }: Host, key: string = KEYS.owner) => ({ ASSAY_URL: url, ASSAY_KEY: key });
const run = (server: Host, args: readonly string[], key?: string) => assay(args, { env: at(server, key) });
/** Imports a file of this text. */
const importText = (server: Host, text: string, ...args: string[]) => {
  const file = join(tempDir(), "judgments.jsonl");
  writeFileSync(file, text);
  return run(server, ["import", file, ...args]);
};

async function post(
  server: Host,
  path: string,
  body: unknown,
  key: string = KEYS.owner,
): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const answer = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  expect(answer.ok, await answer.clone().text()).toBe(true);
  return (await answer.json()) as Record<string, string>;
}

async function endedRun(): Promise<string> {
  const runId = (await here.client("run", "start", "greet")).stdout.trim();
  await here.client("run", "watch", runId);
  return runId;
}

const judge = (runId: string, body: object, key?: string) =>
  post(here, `/v1/host/assay/runs/${runId}/annotations`, body, key);

function fine({ code, stdout, stderr }: processes.Ended): string {
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

describe("feedback summary", () => {
  test("is a chart for people, a table by groups, and JSON for programs", async () => {
    const [one, two] = [await endedRun(), await endedRun()];
    await judge(one, { signal: { kind: "rating", rating: 5 } });
    await judge(two, { signal: { kind: "label", label: "fail" } });
    await judge(two, { signal: { kind: "rating", rating: 1 }, confidence: 0.9 }, KEYS.bot);
    const chart = fine(await here.client("feedback", "summary"));
    expect(chart).toMatch(
      /^2 runs ended in this period\.\n\nPeople: 2 judgments on 2 runs\nRating 5\.00 of 5: 1 rating on 1 run\n/,
    );
    expect(chart).toContain(`  5  ${"#".repeat(30)}  1\n`);
    expect(chart).toMatch(/\naccuracy +50% +\S+ to \S+ +1 of 2\n/);
    expect(chart).toMatch(/\nLabels: fail 1\n\nAgents: 1 judgment on 1 run\n/);

    const table = fine(await here.client("feedback", "summary", "--group-by", "workflow", "--from", "1d"));
    expect(table).toMatch(/^FEEDBACK +RUNS .*\ngreet +2 +2 \(100%\) +5\.00 \(1\) .*\nall +2 /);
    const { total, groups } = JSON.parse(
      fine(await here.client("feedback", "summary", "--workflow", "greet", "--group-by", "day", "--json")),
    );
    expect(total).toMatchObject({ runs: 2, accuracy: 0.5, agents: { accuracy: 0 } });
    expect(groups).toHaveLength(1);
  });

  test("complains about times and groupings that are none", async () => {
    expect(await here.client("feedback", "summary", "--from", "lately")).toMatchObject({ code: 2 });
    const { code, stderr } = await here.client("feedback", "summary", "--group-by", "mood");
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("workflow, agent, node, day") });
  });
});

describe("export and import", () => {
  test("carry judgments from one host to another, any number of times", async () => {
    const runId = await endedRun();
    const { annotationId } = await judge(runId, { signal: { kind: "flag" }, note: "look \u2028 here\nand there" });
    await judge(runId, { signal: { kind: "correction", correction: "42" } });
    const folder = tempDir();
    const file = join(folder, "judgments.jsonl.gz");
    expect(fine(await run(here, ["export", "--run", runId, "--output", file]))).toBe(`${file}: 2 judgments\n`);
    expect(readdirSync(folder)).toEqual(["judgments.jsonl.gz"]);
    const printed = fine(await run(here, ["export", "--run", runId]));
    expect(gunzipSync(readFileSync(file)).toString()).toBe(printed);

    const tried = fine(await run(there, ["import", file, "--dry-run"]));
    expect(tried).toBe("2 judgments would be imported, 0 would be updated, 0 unchanged, 0 refused\n");
    expect(fine(await run(there, ["import", file]))).toBe("2 judgments imported, 0 updated, 0 unchanged, 0 refused\n");
    const piped = await processes.assay(["import", "-", "--json"], { env: at(there), stdin: printed });
    const again = JSON.parse(fine(piped));
    expect(again).toEqual({ imported: 0, updated: 0, unchanged: 2, refused: [], refusedCount: 0, dryRun: false });

    await post(here, `/v1/host/assay/annotations/${annotationId}:close`, { note: "done" });
    const later = fine(await run(here, ["export", "--run", runId]));
    expect(fine(await importText(there, later))).toContain("0 judgments imported, 1 updated, 1 unch");
    const back = fine(await run(there, ["export", "--run", runId]));
    expect(back.replaceAll(',"importedBy":"ada"', "")).toBe(later);
  });

  test("leave a file alone that exists, unless they are told", async () => {
    const file = join(tempDir(), "there.jsonl");
    writeFileSync(file, "precious");
    const { code, stderr } = await run(here, ["export", "--output", file]);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--force") });
    expect(readFileSync(file, "utf8")).toBe("precious");
    const told = fine(await run(here, ["export", "--output", file, "--force", "--signal", "flag", "--json"]));
    expect(JSON.parse(told)).toEqual({ file, judgments: 1 });
  });

  test("refuse what is no such file, or is cut, before anything is sent", async () => {
    const header = '{"type":"header","format":"assay-judgments","version":1}\n';
    const files: readonly (readonly [string, string])[] = [
      [`${header}${line(1)}\n`, "judgment_file_incomplete"],
      [`${header}${line(1)}\n{"type":"end","count":2}\n`, "judgment_file_incomplete"],
      [header.replace(":1}", ":9}"), "judgment_format_unsupported"],
      ["", "judgment_format_unsupported"],
      ['{"assayBackup":1}\n', "judgment_format_unsupported"],
    ];
    for (const [text, error] of files) {
      const { code, stderr } = await importText(there, text, "--json");
      expect({ code, ...JSON.parse(stderr) }).toMatchObject({ code: 2, error });
    }
    expect(await run(there, ["import", join(tempDir(), "none.jsonl")])).toMatchObject({ code: 2 });
    expect(fine(await run(there, ["export", "--run", "run-many"])).split("\n")).toHaveLength(3);
  });

  test("name the lines that were refused, import the others, and exit 2", async () => {
    const header = '{"type":"header","format":"assay-judgments","version":1}';
    const bad = line(90_007).replace('"rating":3', '"rating":9').replace("run-many", "run-odd");
    const good = (n: number) => line(n).replace("run-many", "run-odd");
    const lines = [header, good(90_005), "{oops", good(90_006), bad, good(90_008), '{"type":"end","count":5}', ""];
    const { code, stdout, stderr } = await importText(there, lines.join("\n"));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "3 judgments imported, 0 updated, 0 unchanged, 2 refused\n" });
    expect(stderr).toBe("Line 3: it is not JSON\nLine 5: /signal/rating must be <= 5\n");
  });

  test("tell who may not, and that nobody is there", async () => {
    const header = '{"type":"header","format":"assay-judgments","version":1}';
    const one = join(tempDir(), "one.jsonl");
    writeFileSync(one, `${header}\n${line(90_009)}\n{"type":"end","count":1}\n`);
    expect(await run(there, ["import", one], KEYS.vic)).toMatchObject({ code: 3 });
    const file = join(tempDir(), "never.jsonl");
    const gone = { env: { ASSAY_URL: "http://127.0.0.1:9", ASSAY_KEY: KEYS.owner } };
    expect(await assay(["export", "--output", file], gone)).toMatchObject({ code: 4 });
    expect(existsSync(file)).toBe(false);
  });

  test("hold no more than a little of tens of thousands of judgments in memory, neither here nor there", {
    timeout: 240_000,
  }, async () => {
    // In either form more than a program with this heap could hold.
    const count = IS_LONG_FORM ? 50_000 : 25_000;
    const shown = count.toLocaleString("en-US");
    const file = join(tempDir(), "many.jsonl");
    await writeMany(file, count);
    const env = { ...at(there), NODE_OPTIONS: "--max-old-space-size=40" };
    const imported = fine(await processes.assay(["import", file], { env }));
    expect(imported).toBe(`${shown} judgments imported, 0 updated, 0 unchanged, 0 refused\n`);
    const out = join(tempDir(), "out.jsonl");
    const exported = fine(await processes.assay(["export", "--run", "run-many", "--output", out], { env }));
    expect(exported).toBe(`${out}: ${shown} judgments\n`);
    const written = readFileSync(out, "utf8").split("\n");
    expect(written).toHaveLength(count + 3);
    const original = readFileSync(file, "utf8").split("\n");
    for (const n of [1, 2, 777, count]) expect(written[n]?.replace(',"importedBy":"ada"', "")).toBe(original[n]);
  });
});

const NOTE = "a note of some length that says nothing ".repeat(25).trim();

function line(n: number): string {
  return JSON.stringify({
    type: "annotation",
    annotationId: `ann-02${String(n).padStart(24, "0")}`,
    target: { runId: "run-many" },
    signal: { kind: "rating", rating: 3 },
    actor: { principalRef: "somebody" },
    note: NOTE,
    createdAt: new Date(Date.UTC(2027, 0, 1) + n).toISOString(),
    workflowId: "greet",
    actorKind: "person",
    state: "live",
  });
}

function writeMany(file: string, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = createWriteStream(file).on("error", reject).on("finish", resolve);
    stream.write('{"type":"header","format":"assay-judgments","version":1}\n');
    for (let n = 1; n <= count; n++) stream.write(`${line(n)}\n`);
    stream.end(`{"type":"end","count":${count}}\n`);
  });
}
