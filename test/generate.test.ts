import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { generated, packageVersion } from "../bin/generate.js";

const load = (module: string) => import(/* @vite-ignore */ new URL(`../src/${module}.ts`, import.meta.url).href);

describe("the generated documents", () => {
  test.each(generated)("$path is what the code says; run `npm run docs` when it is not", async ({ path, make }) => {
    const committed = readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
    expect(await make(load, packageVersion())).toBe(committed);
  });
});
