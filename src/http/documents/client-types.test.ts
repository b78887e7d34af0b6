import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { CALLS } from "../../protocol/calls.ts";
import { OPERATIONS, type OperationId } from "../../protocol/operations.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { clientTypes } from "./client-types.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** What the compiler says to the spelled declarations beside those that are derived from the table. */
function compare(spelled: string): string {
  const folder = tempDir();
  const sdk = relative(folder, join(root, "src/sdk"));
  writeFileSync(join(folder, "spelled.ts"), spelled.replaceAll(/from "\.\/([\w-]+)\.js"/g, `from "${sdk}/$1.ts"`));
  writeFileSync(
    join(folder, "compare.ts"),
    `import type { Client as Derived } from "${sdk}/client.ts";
     import type { Client as Spelled } from "./spelled.ts";
     export const spell = (client: Derived): Spelled => client;
     export const derive = (client: Spelled): Derived => client;`,
  );
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const { compilerOptions } = readConfig();
  // Types of packages are looked for beside the sources.
  const typeRoots = [join(root, "node_modules/@types")];
  const config = { compilerOptions: { ...compilerOptions, typeRoots }, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  return spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], {
    encoding: "utf8",
  }).stdout;
}

function readConfig(): { compilerOptions: object } {
  return JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8").replaceAll(/^\s*\/\/.*$/gm, ""));
}

describe("the declarations of the client", () => {
  test("spell out what the table of operations says, no more and no less", () => {
    const spelled = clientTypes(CALLS);
    expect(compare(spelled)).toBe("");
    // The comparison would find a member that is missing, of another type, or too many.
    expect(compare(spelled.replace("artifactDigest?: string", "artifactDigest?: number"))).toContain("TS2322");
  });

  test("need nothing but the client's other declarations", () => {
    const imports = [...clientTypes(CALLS).matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
    expect(imports).toEqual(["./call.js", "./event-stream.js", "./input.js", "./settings.js"]);
  });
});

describe("the calls of the client", () => {
  test("are all operations but those for conformance suites, once each", () => {
    const called = Object.values(CALLS).flatMap((verbs) => Object.values(verbs));
    const all = (Object.keys(OPERATIONS) as OperationId[]).filter((id) => !id.startsWith("conformance"));
    expect([...called].sort()).toEqual([...all].sort());
  });
});
