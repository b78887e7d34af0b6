import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { merkleRoot } from "./checkpoint-series.ts";

const sha = (text: string) => createHash("sha256").update(text, "ascii").digest("hex");
const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(sha) as [string, string, string, string, string];

describe("the root over hashes", () => {
  test("is the hash itself when there is one", () => {
    expect(merkleRoot([a])).toBe(a);
  });

  test("hashes the hex digits of two children as text", () => {
    expect(merkleRoot([a, b])).toBe(sha(`${a}${b}`));
  });

  test("moves an odd last node up unchanged, on every level", () => {
    expect(merkleRoot([a, b, c])).toBe(sha(`${sha(`${a}${b}`)}${c}`));
    const four = sha(`${sha(`${a}${b}`)}${sha(`${c}${d}`)}`);
    expect(merkleRoot([a, b, c, d])).toBe(four);
    expect(merkleRoot([a, b, c, d, e])).toBe(sha(`${four}${e}`));
  });

  test("depends on the order", () => {
    expect(merkleRoot([a, b])).not.toBe(merkleRoot([b, a]));
  });
});
