import { describe, expect, test } from "vitest";
import { loadConfig } from "./config.ts";
import { otlpHeaders, otlpUrl, parseReviewers, parseTokenKeys, parseTrustedRelays } from "./setting-formats.ts";

test("trusted relays are named with their tenant", () => {
  expect(parseTrustedRelays("")).toEqual([]);
  expect(parseTrustedRelays("acme/bridge, other/desk")).toEqual([
    { tenant: "acme", principal: "bridge" },
    { tenant: "other", principal: "desk" },
  ]);
});

test.each(["bridge", "acme/", "/bridge", "a/b/c"])(
  "a trusted relay written as %s is refused: it could be another's",
  (entry) => {
    expect(() => parseTrustedRelays(entry)).toThrow("TENANT/PRINCIPAL");
  },
);

const A = "a".repeat(32);
const B = "b:secret/with=odd#characters-of-32+";

describe("a list of token keys", () => {
  test("names its keys in the order in which they are tried", () => {
    expect(parseTokenKeys(`2027:${A}, 2026:${B}`)).toEqual([
      { kid: "2027", secret: A },
      { kid: "2026", secret: B },
    ]);
  });

  test.each([
    ["a secret that is too short", `2027:${A},2026:${"b".repeat(31)}`, /secrets of 32 characters or more; entry 2/],
    ["no name", A, /must look like KID:SECRET.*entry 1/],
    ["an empty name", `:${A}`, /entry 1/],
    ["nothing after a comma", `2027:${A},`, /entry 2/],
    ["a secret with a space in it", `2027:${A} ${A}`, /entry 1/],
    ["the same name twice", `2027:${A},2027:${B}`, /each key once.*entry 2/],
    ["the name of the host's own key", `host:${A}`, /none "host"; entry 1/],
  ])("with %s is refused, and no secret is repeated", (_, text, message) => {
    expect(() => parseTokenKeys(text)).toThrow(message);
    expect(() => parseTokenKeys(text)).not.toThrow(/aaa|bbb|odd/);
  });

  test("is checked with all other settings, before anything starts", () => {
    const load = (value: string) => loadConfig({ flags: {}, env: { ASSAY_TOKEN_KEYS: value }, cwd: "/" });
    expect(load(`2027:${A}`)).toMatchObject({ tokenKeys: `2027:${A}`, tokenTtl: 1800 });
    expect(() => load("hunter2")).toThrow(/ASSAY_TOKEN_KEYS must look like KID:SECRET/);
    expect(() => load("hunter2")).not.toThrow(/hunter2/);
  });
});

describe("the address of an OTLP receiver", () => {
  test.each([
    ["http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/logs"],
    ["https://otlp.example/", "https://otlp.example/v1/logs"],
    ["https://otlp.example/otlp/", "https://otlp.example/otlp/v1/logs"],
    ["https://otlp.example/v1/logs", "https://otlp.example/v1/logs"],
  ])("%s means %s", (given, meant) => {
    expect(otlpUrl(given)).toBe(meant);
  });

  test.each(["otlp.example", "grpc://otlp.example", "", "https://user:pass@otlp.example"])("cannot be %j", (given) => {
    expect(() => otlpUrl(given)).toThrow(/^must /);
    expect(() => otlpUrl(given)).not.toThrow(/pass@/);
  });
});

describe("headers of an OTLP receiver", () => {
  test("are names and values, which may be percent-encoded", () => {
    expect(otlpHeaders("Authorization=Basic%20dTpw==, x-tenant=a%2Cb")).toEqual({
      authorization: "Basic dTpw==",
      "x-tenant": "a,b",
    });
  });

  test.each(["secret-word", "=secret-word", "two words=secret-word", "a=%zz-secret-word", "a=secret-word%0d%0ab"])(
    "cannot be %j, and no value is repeated",
    (given) => {
      expect(() => otlpHeaders(given)).toThrow(/entry 1 does not/);
      expect(() => otlpHeaders(given)).not.toThrow(/secret-word/);
    },
  );
});

const read = (raw: unknown) => parseReviewers(raw, "/srv");

describe("who reviews under a name", () => {
  test("is the rules, a model, or a program with its arguments", () => {
    expect(
      read(["strict=builtin", "deep=model", "deeper = model:qwen3:14b", "own=command:node review.js --deep"]),
    ).toEqual([
      { agent: "strict", type: "builtin" },
      { agent: "deep", type: "model" },
      { agent: "deeper", type: "model", model: "qwen3:14b" },
      { agent: "own", type: "command", program: "node", args: ["review.js", "--deep"] },
    ]);
  });

  test("is a program beside the file that names it when it has a slash", () => {
    expect(read("a=command:./review.py; b=command:/opt/review")).toEqual([
      { agent: "a", type: "command", program: "/srv/review.py", args: [] },
      { agent: "b", type: "command", program: "/opt/review", args: [] },
    ]);
  });

  test("may have blanks and semicolons in its words where they are quoted in a list", () => {
    expect(read([`a=command:"./my review" 'x; y' ""`])).toEqual([
      { agent: "a", type: "command", program: "/srv/my review", args: ["x; y", ""] },
    ]);
  });

  test("is nobody when nothing is written", () => {
    expect([read([]), read(" ; ")]).toEqual([[], []]);
  });

  test.each([
    ["builtin", /must be NAME=builtin/],
    ["a=rules", /must be NAME=builtin.*"a=rules"/],
    ["../a=builtin", /must be NAME=builtin/],
    ["a=builtin:x", /nothing behind it/],
    ["a=command", /must name the program of a/],
    ["a=command: ", /must name the program of a/],
    ['a=command:""', /must name the program of a/],
    ["a=builtin;a=model", /binds a twice/],
    [[7], /not 7/],
    [{ a: "builtin" }, /must be NAME=builtin/],
  ])("is refused when it cannot be read: %j", (raw, problem) => {
    expect(() => read(raw)).toThrow(problem);
  });
});
