import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { NOW, newId } from "../../testing/builders.ts";
import { upTo } from "../../testing/store-contract/subject.ts";
import { MAX_TOKEN_LENGTH, type NewClaims, type TokenKey, tokenKeys } from "./interrupt-token.ts";

const OLD: TokenKey = { kid: "2026", secret: "an-old-secret-of-at-least-32-characters" };
const NEW: TokenKey = { kid: "2027", secret: "a-new-secret-of-at-least-32-characters!" };

const iso = (ms: number) => new Date(ms).toISOString();
const claims = (more: Partial<NewClaims> = {}): NewClaims => ({
  runId: newId("run"),
  nodeId: "gate",
  interruptId: newId("int"),
  expiresAt: iso(NOW + 60_000),
  intent: "resolve",
  ...more,
});
const keyed = (...keys: [TokenKey, ...TokenKey[]]) => tokenKeys({ keys, nowMs: () => NOW });
const tokens = keyed(NEW);

/** What somebody who has the secret could sign. */
function signed(payload: string | Buffer, { secret } = NEW): string {
  const part = Buffer.from(payload).toString("base64url");
  return `${part}.${createHmac("sha256", secret).update(part).digest("base64url")}`;
}

function codeOf(token: string, readers = tokens): string {
  try {
    readers.read(token);
    return "read";
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as Error).message).not.toContain(token.slice(0, 200) || "no token at all");
    return (error as AppError).code;
  }
}

describe("a token", () => {
  test("says again what it was made for, and which key signed it", () => {
    for (const intent of ["resolve", "inspect"] as const) {
      const made = claims({ intent, nodeId: 'prüfung 审批 "1"' });
      expect(tokens.read(tokens.mint(made))).toEqual({ ...made, kid: "2027" });
    }
  });

  test("is the payload and its HMAC-SHA256, both in base64url, for anybody to check", () => {
    const made = claims();
    const token = tokens.mint(made);
    const [payload = ""] = token.split(".");
    expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toEqual({ ...made, kid: "2027" });
    expect(token).toBe(signed(Buffer.from(payload, "base64url")));
  });

  test("keeps nothing else it is given", () => {
    const more = { ...claims(), secret: "do not tell" };
    expect(tokens.read(tokens.mint(more))).not.toHaveProperty("secret");
  });

  test.each(["审", "\u0001"])("can be made for the longest name of a node: %j", (letter) => {
    const longest = claims({ nodeId: letter.repeat(128), interruptId: "i".repeat(64), runId: "r".repeat(64) });
    expect(tokens.read(tokens.mint(longest))).toMatchObject(longest);
  });

  test("is not made where it could not be read", () => {
    const tooLong = claims({ nodeId: "\u0001".repeat(128), interruptId: "\u0001".repeat(128) });
    expect(() => tokens.mint(tooLong)).toThrow(AppError);
  });
});

describe("a token that no key of this host signed", () => {
  const good = tokens.mint(claims());
  const [payload = "", mac = ""] = good.split(".");

  test("is not found when a single character of it was changed", () => {
    for (const i of upTo(good.length)) {
      if (good[i] === ".") continue;
      const changed = `${good.slice(0, i)}${good[i] === "A" ? "B" : "A"}${good.slice(i + 1)}`;
      expect(codeOf(changed), `at ${i}`).toBe("interrupt_not_found");
    }
  });

  test.each([
    ["with the MAC of another", `${payload}.${tokens.mint(claims()).split(".")[1]}`],
    ["with a MAC that is cut short", good.slice(0, -1)],
    ["with more after its MAC", `${good}A`],
    ["signed with another secret", signed(Buffer.from(payload, "base64url"), OLD)],
    ["signed with nothing", signed(Buffer.from(payload, "base64url"), { kid: "x", secret: "" })],
    ["whose payload is written another way", `${payload}A.${mac}`],
  ])("is not found %s", (_, token) => {
    expect(codeOf(token)).toBe("interrupt_not_found");
  });

  test("is not found when it names another key than the one that signed it", () => {
    expect(codeOf(signed(JSON.stringify({ ...claims(), kid: "2026" })), keyed(NEW, OLD))).toBe("interrupt_not_found");
    expect(codeOf(signed(JSON.stringify({ ...claims(), kid: "__proto__" })))).toBe("interrupt_not_found");
  });

  test("is not found rather than expired when its time is over: only our own tokens have a time", () => {
    const over = { ...claims({ expiresAt: iso(NOW - 1) }), kid: "2027" };
    expect(codeOf(signed(JSON.stringify(over), OLD))).toBe("interrupt_not_found");
    expect(codeOf(signed(JSON.stringify(over)))).toBe("interrupt_expired");
  });
});

describe("a token past its end", () => {
  test("has expired, from that very moment on, and says when", () => {
    const expiresAt = iso(NOW + 1000);
    const token = tokens.mint(claims({ expiresAt }));
    const at = (ms: number) => tokenKeys({ keys: [NEW], nowMs: () => ms });
    expect(at(NOW + 999).read(token)).toMatchObject({ expiresAt });
    expect(() => at(NOW + 1000).read(token)).toThrow(
      expect.objectContaining({ code: "interrupt_expired", status: 410, details: { expiredAt: expiresAt } }),
    );
  });
});

describe("keys that are replaced", () => {
  test("the first signs and all verify, until one leaves the list", () => {
    const before = keyed(OLD).mint(claims());
    const both = keyed(NEW, OLD);
    expect(both.read(before)).toMatchObject({ kid: "2026" });
    expect(both.read(both.mint(claims()))).toMatchObject({ kid: "2027" });
    expect(codeOf(before, keyed(NEW))).toBe("interrupt_not_found");
  });

  test("may share a secret and are told apart by name", () => {
    const twin = { ...NEW, kid: "twin" };
    const made = keyed(twin).mint(claims());
    expect(keyed(NEW, twin).read(made)).toMatchObject({ kid: "twin" });
    expect(codeOf(made, keyed(NEW))).toBe("interrupt_not_found");
  });
});

describe("what is no token", () => {
  test.each([
    ["nothing", ""],
    ["one part", "a-made-up-token"],
    ["three parts", "a.b.c"],
    ["an empty payload", ".abc"],
    ["an empty MAC", "abc."],
    ["padding", "YQ==.YQ=="],
    ["characters of plain base64", "a+b/.a+b/"],
    ["a line break after it", `${tokens.mint(claims())}\n`],
    ["other letters", "prüfung.审批"],
    ["half a surrogate pair", "\ud800.\udfff"],
    ["longer than any", `${"A".repeat(MAX_TOKEN_LENGTH)}.A`],
    ["a megabyte", "A".repeat(1_000_000)],
    ["a megabyte of dots", ".".repeat(1_000_000)],
  ])("is not found, as any unknown token is: %s", (_, token) => {
    expect(codeOf(token)).toBe("interrupt_not_found");
  });

  const whole = { ...claims(), kid: "2027" };
  test.each<[string, string | Buffer]>([
    ["no JSON", "not json"],
    ["bytes that are no UTF-8", Buffer.from([0xff, 0xfe, 0x80])],
    ["null", "null"],
    ["a list", "[]"],
    ["a number beyond all bounds", "1e999"],
    ["deep nesting", "[".repeat(500)],
    ["a time beyond all bounds", JSON.stringify(whole).replace(/"expiresAt":"[^"]*"/, '"expiresAt":1e999')],
    ["a time that is none", JSON.stringify({ ...whole, expiresAt: "soon" })],
    ["the thirtieth of February", JSON.stringify({ ...whole, expiresAt: "2027-02-30T00:00:00Z" })],
    ["no time", JSON.stringify({ ...whole, expiresAt: undefined })],
    ["another intent", JSON.stringify({ ...whole, intent: "approve" })],
    ["more than it should say", JSON.stringify({ ...whole, admin: true })],
    ["a prototype", JSON.stringify(whole).replace("{", '{"__proto__":{"intent":"resolve"},')],
    ["its claims in the prototype", `{"__proto__":${JSON.stringify(whole)}}`],
  ])("is refused even when it is signed: %s", (_, payload) => {
    expect(codeOf(signed(payload))).toBe("interrupt_not_found");
  });
});
