import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CALLS } from "../src/protocol/calls.ts";
import { connect } from "../src/sdk/connect.ts";
import { codeBlocks } from "../src/testing/guide.ts";
import { tempDir } from "../src/testing/temp-dir.ts";
import { type Server, serve } from "./cli/assay.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(join(root, "docs/sdk.md"), "utf8");
/** Each is a program of its own, that begins with the first one. */
const [beginning = "", ...examples] = codeBlocks(page, "ts");

let folder: string;
let server: Server;
const stop = new AbortController();

beforeAll(async () => {
  folder = tempDir();
  mkdirSync(join(folder, "node_modules/@assay"), { recursive: true });
  symlinkSync(join(root, "sdk"), join(folder, "node_modules/@assay/sdk"));
  symlinkSync(root, join(folder, "node_modules/assay"));
  copyFileSync(join(root, "examples/tapes/refund.tape"), join(folder, "refund.tape"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [i, example] of examples.entries()) writeFileSync(join(folder, `${i}.ts`), `${beginning}\n${example}`);
  server = await serve(["--data", tempDir(), "--workflows", join(root, "examples/workflows")]);
  void acceptEverything();
});

afterAll(async () => {
  stop.abort();
  await server.stop();
});

async function acceptEverything(): Promise<void> {
  const { gates } = connect({ url: server.url, key: server.ownerKey });
  for await (const frame of gates.follow({}, { signal: stop.signal })) {
    if (frame.event !== "inbox.opened") continue;
    const { interruptId, revision, artifactDigest } = frame.data;
    await gates.decide({ items: [{ interruptId, revision, artifactDigest, resumeValue: { action: "accept" } }] });
  }
}

/** What an example says that it prints: in comments behind the statement, or below it. */
function shown(example: string): string[] {
  return example.split("\n").flatMap((line) => {
    const [, comment] = /^(?:.*console\.log.*; )?\/\/ (.*)$/.exec(line) ?? [];
    return comment === undefined ? [] : [comment];
  });
}

describe("the guide to the client", () => {
  test("compiles, example by example, with the types that are published", async () => {
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext"];
    const types = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node", "--lib", "es2022"];
    const files = examples.map((_, i) => `${i}.ts`);
    const tsc = [join(root, "node_modules/typescript/bin/tsc"), "--ignoreConfig", ...strict, ...types, ...files];
    const { stdout } = await run(process.execPath, tsc, { cwd: folder }).catch((error) => error);
    expect(stdout).toBe("");
  });

  test("prints what it says, in the order of the page", async () => {
    const env = { ...process.env, ASSAY_URL: server.url, ASSAY_KEY: server.ownerKey };
    for (const [i, example] of examples.entries()) {
      const { stdout, stderr } = await run(process.execPath, [`${i}.js`], { cwd: folder, env });
      expect([stdout.trimEnd().split("\n"), stderr], example).toEqual([
        shown(example).length > 0 ? shown(example) : [""],
        "",
      ]);
    }
  });

  test("names every noun", () => {
    for (const noun of Object.keys(CALLS)) expect(page).toContain(`\`${noun}\``);
  });
});
