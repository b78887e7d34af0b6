import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { bodyOf, tapeText } from "../../src/testing/tape-texts.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflowFolder } from "./assay.ts";
import { assay, type Ended, type Server, serve } from "./in-process.ts";

const KEYS = { owner: "key-of-the-owner-of-all", vic: "key-of-vic-the-viewer" };
const SECRET = "key ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const WITHHELD = bodyOf(SECRET).hash;
const MISSING = bodyOf("nowhere").hash;

let server: Server;

beforeAll(async () => {
  const keys = join(tempDir(), "keys.json");
  writeFileSync(
    keys,
    JSON.stringify([
      { key: KEYS.owner, tenant: "t1", principal: "ada", roles: ["owner"] },
      { key: KEYS.vic, tenant: "t1", principal: "vic", roles: ["viewer"] },
    ]),
  );
  server = await serve(["--data", tempDir(), "--keys", keys, "--workflows", workflowFolder()], { key: KEYS.owner });
});

/** A folder with a tape, and beside it what is not in the tape. */
function folderWith(tape: string, bodies: readonly string[]): string {
  const cwd = tempDir();
  writeFileSync(join(cwd, "night.tape"), tape);
  mkdirSync(join(cwd, "night.tape.cas"));
  for (const body of bodies) writeFileSync(join(cwd, "night.tape.cas", bodyOf(body).hash), body);
  return cwd;
}

function run(cwd: string, args: readonly string[], key: string = KEYS.owner): Promise<Ended> {
  return assay(args, { cwd, env: { ASSAY_URL: server.url, ASSAY_KEY: key } });
}

describe("tape import", () => {
  test("prints the run, sends bodies along, and names those that stay away", async () => {
    const cwd = folderWith(tapeText({ bodies: ["stored", "nowhere", SECRET] }), ["stored", SECRET]);
    const { code, stdout, stderr } = await run(cwd, ["tape", "import", "night.tape", "--agent", "writer"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^run-\w+\n$/);
    const runId = stdout.trim();
    expect(stderr.split("\n")).toEqual([
      "night.tape: imported, 7 records.",
      "1 body sent.",
      `Body ${MISSING} is missing: neither the server nor the folder of the tape has it.`,
      `Body ${WITHHELD} is withheld: it contains a possible secret.`,
      `See it with \`assay run watch ${runId}\`; send annotations with \`assay tape push night.tape\`.`,
      "",
    ]);
    const again = await run(cwd, ["tape", "import", "night.tape", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      runId,
      created: false,
      bodies: { referenced: 3, stored: 0, missing: [MISSING], withheld: [WITHHELD], refused: [] },
    });
    const said = await run(cwd, ["tape", "import", "night.tape"]);
    expect(said.stderr).toContain("night.tape was imported before; nothing was changed.");

    const watched = await run(cwd, ["run", "watch", runId]);
    expect(watched.code).toBe(0);
    expect(watched.stdout).toMatch(/assay\.tape\.record +#18446744073709551615 {2}clock_sleep/);
    expect((await run(cwd, ["run", "show", runId])).stdout).toContain("tape night.tape, digest ");
    expect(await run(cwd, ["run", "fork", runId])).toMatchObject({
      code: 2,
      stderr: `error: Run ${runId} was recorded elsewhere and came as a tape. It can be read and judged; it cannot be forked or replayed.\n`,
    });
  });

  test("takes a bundle too", async () => {
    const cwd = folderWith(tapeText({ greeting: "in a bundle" }), ["stored"]);
    expect((await run(cwd, ["tape", "bundle", "night.tape", "--output", "all.tar.gz"])).code).toBe(0);
    const { stdout, stderr } = await run(cwd, ["tape", "import", "all.tar.gz", "--json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({ created: true, records: 5, bodies: { stored: 1, missing: [] } });
    writeFileSync(join(cwd, "cut.tar.gz"), readFileSync(join(cwd, "all.tar.gz")).subarray(0, 200));
    const cut = await run(cwd, ["tape", "import", "cut.tar.gz"]);
    expect(cut).toMatchObject({ code: 1, stdout: "" });
    expect(cut.stderr).toMatch(/^error: load bundle cut\.tar\.gz: /);
  });

  test("says what is wrong with a file as every command about tapes does, and sends nothing", async () => {
    const cwd = folderWith(`${tapeText()}{"type":"record"}\n`, []);
    const bad = await run(cwd, ["tape", "import", "night.tape", "--json"]);
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.stderr)).toEqual({
      error: "tape_record_parse",
      message: expect.stringMatching(/^load tape night\.tape: parse tape record at line 7 in night\.tape: /),
      details: { path: "night.tape", line: 7 },
    });
    expect(await run(cwd, ["tape", "import", "no.tape"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: load tape no\.tape: read no\.tape: /),
    });
    writeFileSync(join(cwd, "night.tape"), tapeText({ greeting: "not allowed" }));
    expect(await run(cwd, ["tape", "import", "night.tape"], KEYS.vic)).toMatchObject({ code: 3, stdout: "" });
  });
});

describe("tape from-run", () => {
  test("gives a tape back with all that stood beside it, and its annotations", async () => {
    const cwd = folderWith(tapeText({ greeting: "back", bodies: ["stored", "nowhere"] }), ["stored"]);
    const runId = (await run(cwd, ["tape", "import", "night.tape"])).stdout.trim();
    const row = '{"type":"annotation","id":"a1","event_id":2,"kind":"correct" , "mine": 1.0}';
    const sidecar = `# mine\n{"type":"header","schema_version":1}\n${row}\n`;
    writeFileSync(join(cwd, "night.tape.annotations.jsonl"), sidecar);
    expect((await run(cwd, ["tape", "push", "night.tape"])).code).toBe(0);

    const { code, stdout, stderr } = await run(cwd, ["tape", "from-run", runId, "--output", "out/back.tape"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "out/back.tape\nout/back.tape.annotations.jsonl\n" });
    expect(stderr.split("\n")).toEqual([
      "6 records, 1 body in out/back.tape.cas/.",
      `Body ${MISSING} is missing: the server does not have it.`,
      `Send annotations back with \`assay tape push out/back.tape --run ${runId}\`.`,
      "",
    ]);
    expect(readdirSync(join(cwd, "out")).sort()).toEqual(["back.tape", "back.tape.annotations.jsonl", "back.tape.cas"]);
    const read = (...path: string[]) => readFileSync(join(cwd, ...path), "utf8");
    expect(read("out", "back.tape")).toBe(read("night.tape"));
    expect(read("out", "back.tape.annotations.jsonl")).toBe(sidecar);
    expect(read("out", "back.tape.cas", bodyOf("stored").hash)).toBe("stored");

    const again = await run(cwd, ["tape", "from-run", runId, "--output", "out/back.tape"]);
    expect(again).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("out/back.tape exists") });
    writeFileSync(join(cwd, "out", "back.tape"), "changed");
    const forced = await run(cwd, ["tape", "from-run", runId, "--output", "out/back.tape", "--force", "--json"]);
    expect(JSON.parse(forced.stdout)).toMatchObject({ records: 6, bodies: 1, missing: [MISSING] });
    expect(read("out", "back.tape")).toBe(read("night.tape"));
  });

  test("says when a tape is not as it came, and its annotations can be sent back all the same", async () => {
    const cwd = folderWith(tapeText({ greeting: SECRET }), []);
    const runId = (await run(cwd, ["tape", "import", "night.tape"])).stdout.trim();
    await run(cwd, ["tape", "annotate", "night.tape", "--event", "0", "--kind", "note"]);
    expect((await run(cwd, ["tape", "push", "night.tape"])).code).toBe(0);
    const { stderr } = await run(cwd, ["tape", "from-run", runId, "--output", "back.tape"]);
    expect(stderr).toContain("so its digest is not the one that its annotations name.\n");
    expect(await run(cwd, ["tape", "push", "back.tape"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("or name the run with --run"),
    });
    const pushed = await run(cwd, ["tape", "push", "back.tape", "--run", runId, "--json"]);
    expect(JSON.parse(pushed.stdout)).toMatchObject({ recorded: 0, superseded: 0, unchanged: 1 });
  });

  test("writes any run, with long events beside the tape, so that it can be imported elsewhere", async () => {
    const cwd = tempDir();
    const name = "x".repeat(5000);
    const started = await run(cwd, ["run", "start", "greet", "--input", `name=${name}`, "--wait", "--json"]);
    const { runId } = JSON.parse(started.stdout);
    const { code, stdout, stderr } = await run(cwd, ["tape", "from-run", runId, "--json"]);
    expect(code, stderr).toBe(0);
    const { tape, bodies, records } = JSON.parse(stdout);
    expect(tape).toBe(`${runId}.tape`);
    const stored = readdirSync(join(cwd, `${tape}.cas`));
    expect(stored).toHaveLength(bodies);
    expect(bodies).toBeGreaterThan(0);
    const [hash = ""] = stored;
    expect(bodyOf(readFileSync(join(cwd, `${tape}.cas`, hash), "utf8")).hash).toBe(hash);
    const lines = readFileSync(join(cwd, tape), "utf8").split("\n");
    expect(lines).toHaveLength(records + 2);
    expect(lines.join("\n")).not.toContain(name);
    cpSync(join(cwd, tape), join(cwd, "again.tape"));
    cpSync(join(cwd, `${tape}.cas`), join(cwd, "again.tape.cas"), { recursive: true });
    const imported = await run(cwd, ["tape", "import", "again.tape", "--json"]);
    expect(JSON.parse(imported.stdout)).toMatchObject({
      created: true,
      records,
      bodies: { missing: [], withheld: [] },
    });
  });

  test("leaves nothing behind when there is no such run, or nowhere to write", async () => {
    const cwd = tempDir();
    const none = await run(cwd, ["tape", "from-run", "run-none", "--output", "new/folder/none.tape"]);
    expect(none).toMatchObject({ code: 2, stdout: "" });
    expect(readdirSync(cwd)).toEqual([]);
    writeFileSync(join(cwd, "file"), "");
    const blocked = await run(cwd, ["tape", "from-run", "run-none", "--output", "file/none.tape"]);
    expect(blocked).toMatchObject({ code: 1, stderr: expect.stringMatching(/^error: write file\/none\.tape: /) });
  });
});
