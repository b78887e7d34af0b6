import { describe, expect, test } from "vitest";
import { otlpHeaders, otlpUrl } from "./otlp-receiver.ts";

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
