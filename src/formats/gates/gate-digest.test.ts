import { expect, test } from "vitest";
import { shownDigest } from "./gate-digest.ts";

const kind = "approval";
const DATA = { title: "Ship it?", artifactData: { text: "a", n: 1 } };

test("the digest of what a gate shows depends on content, not on the order of names or on an earlier visit", () => {
  const digest = shownDigest({ kind, data: DATA });
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(shownDigest({ kind, data: { artifactData: { n: 1, text: "a" }, title: "Ship it?" } })).toBe(digest);
  expect(shownDigest({ kind, data: { ...DATA, previous: { interruptId: "int-1" } } })).toBe(digest);
  expect(shownDigest({ kind, data: { ...DATA, branch: { changedOptions: ["inputs.a"] } } })).toBe(digest);
});

test.each([
  ["another artifact", { data: { ...DATA, artifactData: { text: "b", n: 1 } } }],
  ["another title", { data: { ...DATA, title: "Ship that?" } }],
  ["another rule", { data: { ...DATA, requiredApprovals: 2 } }],
  ["an edit", { data: DATA, edited: { data: "b" } }],
  ["an edit to nothing", { data: DATA, edited: { data: null } }],
  ["half of a character", { data: { ...DATA, title: "\ud800" } }],
  ["another kind", { kind: "custom", data: DATA } as const],
])("%s is another digest", (_, shown) => {
  expect(shownDigest({ kind, ...shown })).not.toBe(shownDigest({ kind, data: DATA }));
});
