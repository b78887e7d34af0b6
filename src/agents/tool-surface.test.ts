import { expect, test } from "vitest";
import { joined, type ToolSurface } from "./tool-surface.ts";

const surface = (outcome: string, ...names: string[]): ToolSurface => ({
  tools: names.map((name) => ({ name, description: outcome })),
  call: async () => ({ status: "ok", outcome }),
});

test("of several tools with one name the first is listed and called, and what is nowhere is refused", async () => {
  const all = joined([surface("first", "a:x", "a:y"), surface("second", "a:y", "a:z")]);
  expect(all.tools.map(({ name, description }) => `${name} ${description}`)).toEqual([
    "a:x first",
    "a:y first",
    "a:z second",
  ]);
  const { signal } = new AbortController();
  expect(await all.call("a:y", {}, signal)).toEqual({ status: "ok", outcome: "first" });
  expect(await all.call("a:z", {}, signal)).toEqual({ status: "ok", outcome: "second" });
  expect(await all.call("a:w", {}, signal)).toMatchObject({ status: "forbidden" });
});
