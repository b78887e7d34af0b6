import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../settings/config.ts";
import { usableBindings } from "../wiring/review-on.ts";
import { ownReviewerBindings, reviewerBindings } from "./reviewer-bindings.ts";

function bound(env: Record<string, string>, reviewer?: readonly string[]) {
  return reviewerBindings(loadConfig({ flags: { reviewer }, env, cwd: "/nowhere" }), env);
}

const MODEL = { ASSAY_REVIEW_MODEL: "small", ASSAY_REVIEW_MODEL_URL: "http://127.0.0.1:9/v1" };

describe("who reviews", () => {
  test("is always somebody under the usual name: the rules, the model that is set, or who is bound to it", () => {
    expect(bound({})).toEqual([{ agent: "qualitative-reviewer", type: "builtin" }]);
    expect(bound(MODEL)).toMatchObject([{ agent: "qualitative-reviewer", type: "model", model: { model: "small" } }]);
    expect(bound(MODEL, ["qualitative-reviewer=builtin"])).toEqual([
      { agent: "qualitative-reviewer", type: "builtin" },
    ]);
    expect(bound({ ASSAY_REVIEWER: "qualitative-reviewer=command:cat" })).toMatchObject([
      {
        agent: "qualitative-reviewer",
        type: "command",
        command: { program: "cat", args: [], directory: resolve(".") },
      },
    ]);
  });

  test("is everybody who is bound, beside the usual one", () => {
    expect(bound(MODEL, ["rules=builtin", "deep=model:large", "own=command:cat -u"])).toMatchObject([
      { agent: "qualitative-reviewer", model: { model: "small" } },
      { agent: "rules", type: "builtin" },
      { agent: "deep", type: "model", model: { model: "large", url: MODEL.ASSAY_REVIEW_MODEL_URL } },
      { agent: "own", type: "command", command: { program: "cat", args: ["-u"] } },
    ]);
  });

  test("is refused when a model is bound that cannot be asked", () => {
    expect(() => bound({}, ["deep=model"])).toThrow(/ASSAY_REVIEW_MODEL, or write NAME=model:MODEL/);
    expect(() => bound({}, ["deep=model:large"])).toThrow(/bound to the model large.*ASSAY_REVIEW_MODEL_URL/);
  });

  test("is refused by a host when a program is bound that is not there", () => {
    const env = { PATH: "/bin" };
    const usable = (program: string) => usableBindings(bound({}, [`own=command:${program}`]), env);
    expect(usable("sh")).toHaveLength(2);
    expect(usable(process.execPath)).toHaveLength(2);
    for (const missing of ["no-such-program", "./no-such-program", "/bin"]) {
      expect(() => usable(missing)).toThrow(/own is bound to the program .*does not exist or cannot be executed/);
    }
  });

  test("sees few variables of a server and those that are named for it", () => {
    const env = { PATH: "/bin", HOME: "/h", LANG: "C", TZ: "UTC", TMPDIR: "/t", OTHER_KEY: "o", CI: "1", PGHOST: "db" };
    const seen = (more: Record<string, string>) => {
      const [, own] = bound({ ...env, ...more }, ["own=command:cat"]);
      return own?.type === "command" ? own.command.environment : undefined;
    };
    const plain = { PATH: "/bin", HOME: "/h", LANG: "C", TZ: "UTC", TMPDIR: "/t" };
    expect(seen({ ASSAY_DATABASE_URL: "postgres://a:b@db/c", ASSAY_KEY: "k" })).toEqual(plain);
    expect(seen({ ASSAY_REVIEWER_ENV: "CI, OTHER_KEY" })).toEqual({ ...plain, CI: "1", OTHER_KEY: "o" });
    expect(() => seen({ ASSAY_REVIEWER_ENV: "NOT_SET" })).toThrow(/names NOT_SET, which the environment does not have/);
    expect(() => seen({ ASSAY_REVIEWER_ENV: "ASSAY_KEY" })).toThrow(/must not name ASSAY_KEY/);
  });

  test("on one's own machine sees everything but our keys and our database", () => {
    const ours = {
      ASSAY_KEY: "k",
      ASSAY_KEYS: "/keys.json",
      ASSAY_TOKEN_KEYS: "a:0123456789012345678901234567890123456789",
      ASSAY_AUDIT_KEY: "/audit.pem",
      ASSAY_OTLP_HEADERS: "a=b",
      ASSAY_DATA: "/data",
      ASSAY_REVIEW_MODEL_KEY: "k",
      ASSAY_REVIEW_MODEL_KEY_ENV: "THE_MODEL_KEY",
      THE_MODEL_KEY: "k",
    };
    const theirs = { PATH: "/bin", OTHER_KEY: "o", ASSAY_LOG_LEVEL: "info", PGHOST: "db" };
    const seen = (env: Record<string, string>) => {
      const config = loadConfig({ flags: { reviewer: ["own=command:cat"] }, env, cwd: "/nowhere" });
      const [, own] = ownReviewerBindings(config, env, []);
      return own?.type === "command" ? own.command.environment : undefined;
    };
    expect(seen({ ...ours, ...theirs })).toEqual(theirs);
    const { PGHOST: _, ...rest } = theirs;
    expect(seen({ ...theirs, ASSAY_DATABASE_URL: "postgres://a:b@db/c" })).toEqual(rest);
  });
});
