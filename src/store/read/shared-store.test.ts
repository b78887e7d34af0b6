import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NAMED_BY_TENANT } from "./shared-store.ts";

test("reads whose first argument is a tenant are those that the port declares so", () => {
  const folder = new URL("../port/", import.meta.url);
  const declared = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(new URL(file, folder), "utf8");
    return [...text.matchAll(/^ {2}(\w+)\(\s*tenant: string/gm)].map(([, name]) => name);
  });
  expect([...NAMED_BY_TENANT].sort()).toEqual(declared.sort());
});
