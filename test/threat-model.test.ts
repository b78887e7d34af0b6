import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hasTest } from "../src/testing/has-test.ts";

const root = new URL("../", import.meta.url);
const page = readFileSync(new URL("docs/threat-model.md", root), "utf8");
/** Each promise is a row whose last cell names its tests as `file` › title, separated by `<br>`. */
const rows = page.split("\n").filter((line) => line.includes("` › "));
const named = rows.flatMap((line) => [...line.matchAll(/`([^`]+)` › (.+?)(?=<br>| \|$)/g)]);

describe("the threat model", () => {
  test("has a test for every promise, and each exists", () => {
    const promises = page.slice(page.indexOf("## Promises"), page.indexOf("## How findings are rated"));
    const table = promises.split("\n").filter((line) => /^\| (?!Promise |---)/.test(line));
    expect(table.filter((line) => !line.includes("` › "))).toEqual([]);
    const missing = named.filter(([, file = "", title = ""]) => !hasTest(file, title.replaceAll("\\|", "|")));
    expect(missing.map(([whole]) => whole)).toEqual([]);
  });

  test("names every file of attacks", () => {
    const files = readdirSync(new URL("test/hostile/attacks/", root)).map((name) => `test/hostile/attacks/${name}`);
    expect(files.filter((file) => !page.includes(file))).toEqual([]);
  });
});
