import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AppError, ERRORS } from "./errors.ts";
import { RUN_ERRORS } from "./runs/run-errors.ts";

describe("an AppError", () => {
  test("says what is true with the ids it was given", () => {
    const error = new AppError("run_terminal", { runId: "run-1", runStatus: "failed" });
    expect(error.message).toBe("Run run-1 is failed and cannot change any more.");
    expect(error.status).toBe(409);
  });

  test("knows how long to wait", () => {
    expect(new AppError("rate_limited", { retryAfterMs: 1200 }).retryAfterSeconds).toBe(2);
    expect(new AppError("unavailable", { reason: "Restarting" }).retryAfterSeconds).toBe(1);
    expect(new AppError("not_found", { what: "run" }).retryAfterSeconds).toBeUndefined();
  });
});

describe("the error reference", () => {
  const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  const rows = (heading: string) => {
    const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? "";
    return [...section.matchAll(/^\| `(\w+)` \| ([^|]*)\|/gm)].map((match) => [match[1], match[2]?.trim()] as const);
  };

  test("lists every code with its status, and no others", () => {
    expect(Object.fromEntries(rows("Codes of HTTP answers"))).toEqual(
      Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, String(status)])),
    );
  });

  test("lists every code of a failed run or node, and no others", () => {
    expect(rows("Codes inside runs").map(([code]) => code)).toEqual(Object.keys(RUN_ERRORS));
  });

  test("knows every code that the engine gives a run or a node", () => {
    const engine = new URL("../engine/", import.meta.url);
    const files = readdirSync(engine, { recursive: true, encoding: "utf8" });
    const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
    const codes = sources.flatMap((file) =>
      [...readFileSync(new URL(file, engine), "utf8").matchAll(/\bcode: "([a-z]+(?:_[a-z]+)+)"/g)].map(
        (match) => match[1] ?? "",
      ),
    );
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter((code) => !Object.hasOwn(RUN_ERRORS, code))).toEqual([]);
  });
});
