import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { readKeyFile } from "./key-file.ts";

const GOOD = { key: "at-least-16-characters", tenant: "t1", principal: "p1", roles: ["owner"] };

function file(content: unknown): string {
  const path = join(tempDir(), "keys.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("a key file", () => {
  test("is an array of keys", () => {
    expect(
      readKeyFile(
        file([
          { ...GOOD, groups: ["legal"] },
          { ...GOOD, key: "another-key-of-16", expiresAt: "2030-01-31T12:00:00Z" },
        ]),
      ),
    ).toHaveLength(2);
    expect(readKeyFile(file([]))).toEqual([]);
  });

  test.each([
    ["a key that is too short", [GOOD, { ...GOOD, key: "short" }], /keys\.json: entry 1 key must/],
    ["an unknown field", [{ ...GOOD, role: "owner" }], /entry 0 must not have "role"/],
    ["a group that is no id", [{ ...GOOD, groups: ["legal", "two words"] }], /entry 0 groups\/1 must/],
    ["a missing field", [{ key: GOOD.key, tenant: "t1" }], /entry 0 must have "principal"/],
    [
      "an end that is no instant",
      [{ ...GOOD, expiresAt: "tomorrow, at about noon" }],
      /entry 0 expiresAt must be an instant/,
    ],
    ["no array", { keys: [] }, /must hold a JSON array/],
  ])("with %s is refused, naming the entry", (_, content, message) => {
    expect(() => readKeyFile(file(content))).toThrow(message);
  });

  test("is refused without ever repeating a key", () => {
    const secret = "secret-secret-secret";
    expect(() => readKeyFile(file(`[{"key":"${secret}"`))).toThrow(/is not JSON/);
    expect(() => readKeyFile(file(`[{"key":"${secret}"`))).not.toThrow(secret);
    expect(() => readKeyFile(file([{ key: `${secret} x` }]))).not.toThrow(secret);
  });

  test("that is not there is refused", () => {
    expect(() => readKeyFile("/nowhere/keys.json")).toThrow(/--keys cannot be read/);
  });
});
