import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../src/testing/temp-dir.ts";
import { type Server, serve, workflowFolder } from "./cli/assay.ts";
import { browserPath, launchBrowser, withoutBrowser } from "./find-browser.ts";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("..", import.meta.url));
/** A project of somebody else, with nothing in it but the packed client. */
let project: string;
let installed: string;
let server: Server;

beforeAll(async () => {
  project = tempDir();
  // Without scripts: `prepack` would build, and what is published is built already.
  const pack = ["pack", "--ignore-scripts", "--pack-destination", project];
  await run("npm", pack, { cwd: join(repository, "sdk") });
  const [archive = ""] = readdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", archive], { cwd: project });
  installed = join(project, "node_modules/@assay/sdk");
  server = await serve(["--data", tempDir(), "--workflows", workflowFolder()]);
});

afterAll(() => server.stop());

/** What a program does with a server. The same in Node and in a page. */
const JOURNEY = `
import { connect, NotFoundError } from "@assay/sdk";
import { openTape } from "@assay/sdk/tapes";

const TAPE = '{"type":"header","version":1,"harn_version":"1"}\\n{"type":"record","seq":1,"virtual_time_ms":0,"monotonic_ms":0,"kind":{"kind":"clock_sleep","duration_ms":3}}';

export async function journey(url, key) {
  const tape = await openTape({ tape: TAPE });
  const judged = tape.annotate({ event: 1, kind: "note", author: { id: "ada", kind: "human" } });
  const assay = connect({ url, key });
  const { runId } = await assay.runs.start({ workflowId: "greet", inputs: { name: "Ada" } });
  const events = [];
  for await (const { event } of assay.runs.follow(runId)) events.push(event);
  const { status } = await assay.runs.get(runId);
  await assay.judgments.annotate(runId, { target: {}, signal: { kind: "rating", rating: 4 } });
  const ratings = [];
  for await (const { signal } of assay.judgments.list({ runId })) ratings.push(signal.rating);
  const missing = await assay.runs.get("run-none").catch((error) => error);
  const gate = await assay.gates.request({ title: "Go on?", artifact: { to: "Ada" } });
  for await (const { event, data } of assay.gates.follow()) {
    if (event !== "inbox.opened" || data.runId !== gate.id) continue;
    const { interruptId, revision, artifactDigest } = data;
    const vote = { interruptId, revision, artifactDigest, resumeValue: { action: "accept" } };
    await assay.gates.decide({ items: [vote] });
    break;
  }
  const { approved, artifact } = await assay.gates.attach(gate.id).decision();
  return { judged: [tape.digest, judged.id], events, status, ratings, missing: missing instanceof NotFoundError && missing.code, approved, artifact };
}
`;

const EXPECTED = {
  judged: [expect.stringMatching(/^[0-9a-f]{64}$/), "ann_1_1"],
  events: ["run.started", "node.completed", "run.completed"],
  status: "completed",
  ratings: [4],
  missing: "not_found",
  approved: true,
  artifact: { to: "Ada" },
};

describe("the packed client", () => {
  test("works in Node, installed in an empty project", async () => {
    writeFileSync(join(project, "journey.js"), JOURNEY);
    const main =
      'import { journey } from "./journey.js"; console.log(JSON.stringify(await journey(...process.argv.slice(2))));';
    writeFileSync(join(project, "main.js"), main);
    const { stdout, stderr } = await run(process.execPath, ["main.js", server.url, server.ownerKey ?? ""], {
      cwd: project,
    });
    expect([JSON.parse(stdout), stderr]).toEqual([EXPECTED, ""]);
  });

  test.skipIf(browserPath === undefined)(`works in a page${withoutBrowser}`, async () => {
    writeFileSync(join(project, "journey.js"), JOURNEY);
    const { code, imports } = await bundled(join(project, "journey.js"));
    expect(imports).toEqual([]);
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      // A page of the host's own origin.
      await page.route(`${server.url}/page`, (route) => route.fulfill({ contentType: "text/html", body: "<p>A page" }));
      await page.goto(`${server.url}/page`);
      await page.addScriptTag({ content: code });
      const seen = await page.evaluate(`client.journey(location.origin, ${JSON.stringify(server.ownerKey)})`);
      expect(seen).toEqual(EXPECTED);
    } finally {
      await browser.close();
    }
  });

  test("brings its own types, for pages and for Node, and refuses what is no operation", async () => {
    const good = `
      import { type Client, connect, type RunSnapshot } from "@assay/sdk";
      import { verifyWebhook } from "@assay/sdk/webhooks";
      import { defineSuite, runSuite, type SuiteResult } from "@assay/sdk/eval";
      import { type AnnotatedTape, openTape } from "@assay/sdk/tapes";
      const assay = connect({ url: "http://localhost:4100" });
      const client: Client = assay;
      const suite = defineSuite({ suiteId: "a.evals.b", tasks: { t: { input: 1, expect: 2 } } });
      const result: SuiteResult = await runSuite(client, suite, { agent: "a", options: { trials: 2 } });
      const tape: AnnotatedTape = await openTape({ tape: "" });
      tape.annotate({ event: "last", kind: "note", author: { id: result.runId, kind: "human" } });
      const run: RunSnapshot = await client.runs.get("run-1");
      for await (const { workflowId } of assay.runs.list({ status: "failed" })) workflowId.trim();
      for await (const frame of assay.runs.follow("run-1")) if (frame.event === "node.completed") frame.data.payload.outputs;
      const { type } = await verifyWebhook({ secret: "s", headers: new Headers(), body: "" });
      export { run, type };`;
    const bad = `
      import { connect } from "@assay/sdk";
      import { defineSuite, runSuite } from "@assay/sdk/eval";
      import { openTape } from "@assay/sdk/tapes";
      const assay = connect({ url: "http://localhost:4100" });
      // @ts-expect-error there is no such operation
      assay.runs.explode("run-1");
      // @ts-expect-error an unknown property is refused by the server too
      assay.runs.start({ workflow: "greet" });
      // @ts-expect-error the path has a parameter
      assay.runs.get();
      // @ts-expect-error no status of a run
      assay.runs.list({ status: "bored" });
      // @ts-expect-error an option that no evaluation has
      runSuite(assay, defineSuite({ suiteId: "a.evals.b", tasks: {} }), { agent: "a", options: { tirals: 2 } });
      // @ts-expect-error a judgment has an author
      (await openTape({ tape: "" })).annotate({ event: 1, kind: "note" });`;
    writeFileSync(join(project, "good.ts"), good);
    writeFileSync(join(project, "bad.ts"), bad);
    const strict = [
      "--strict",
      "--exactOptionalPropertyTypes",
      "--noEmit",
      "--target",
      "es2022",
      "--module",
      "nodenext",
    ];
    const tsc = (...more: string[]) =>
      run(process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), ...strict, ...more], {
        cwd: project,
      }).then(
        ({ stdout }) => stdout,
        ({ stdout }) => stdout,
      );
    const files = ["--ignoreConfig", "good.ts", "bad.ts"];
    expect(await tsc("--lib", "es2022,dom,dom.asynciterable", "--types", "", ...files)).toBe("");
    const nodeTypes = join(repository, "node_modules/@types");
    expect(await tsc("--lib", "es2022", "--typeRoots", nodeTypes, "--types", "node", ...files)).toBe("");
  });

  test("is small, has no dependencies and the version of the server", () => {
    // With what it shares with the other entry points.
    const loaded = ["index.js", "request.js"].map((name) => readFileSync(join(installed, "dist", name), "utf8"));
    expect(loaded[0]?.match(/"\.\/[\w-]+\.js"/g)).toEqual(['"./request.js"']);
    expect(gzipSync(loaded.join(""), { level: 9 }).length).toBeLessThan(10_000);
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ version, sideEffects: false });
    expect(Object.keys(manifest)).not.toContain("dependencies");
    expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  });
});

/** As a page would load it: one script, which names what it offers `client`. */
async function bundled(input: string): Promise<{ code: string; imports: string[] }> {
  const bundle = await rolldown({ input, platform: "browser" });
  try {
    const { output } = await bundle.generate({ format: "iife", name: "client" });
    const [{ code, imports, dynamicImports }] = output;
    return { code, imports: [...imports, ...dynamicImports] };
  } finally {
    await bundle.close();
  }
}
