import { describe, expect, test } from "vitest";
import { HARMLESS_LINES } from "../testing/harmless-lines.ts";
import { loadRuleSet } from "./rule-set.ts";
import { scrubber } from "./scrub.ts";
import { isSecretName } from "./secret-names.ts";

const { scrubText, scrubValue, holdsKey } = scrubber({ more: await loadRuleSet() });

describe("a value is hidden by the name before it", () => {
  test.each([
    ["in a member of JSON", '{"password":"hunter2","n":1}', '{"password":"[REDACTED]","n":1}'],
    ["in JSON in JSON", '{\\"token\\": \\"ab\\\\\\"cd\\", \\"n\\": 1}', '{\\"token\\": \\"[REDACTED]\\", \\"n\\": 1}'],
    ["with a quote in it", '{"secret":"a\\"b\\\\","n":1}', '{"secret":"[REDACTED]","n":1}'],
    ["in a list", "passwords: ['one', \"two\"], n: 1", "passwords: ['[REDACTED]', \"[REDACTED]\"], n: 1"],
    ["after NAME=", "export DB_PASSWORD=hunter2\nexport N=1", "export DB_PASSWORD=[REDACTED]\nexport N=1"],
    ["after a name with blanks", "client_secret = hunter2", "client_secret = [REDACTED]"],
    ["in single quotes", "api_key='hunter2' n=1", "api_key='[REDACTED]' n=1"],
    ["in quotes after a colon", 'the secret: "open sesame"', 'the secret: "[REDACTED]"'],
    ["of two words", "api key = hunter2", "api key = [REDACTED]"],
    ["in camel case", "dbPassword=hunter2", "dbPassword=[REDACTED]"],
    ["of several", "SECRET_KEY_BASE=hunter2 TOKEN_2=x1", "SECRET_KEY_BASE=[REDACTED] TOKEN_2=[REDACTED]"],
    ["in a header", "X-Api-Key: hunter2\nAccept: */*", "X-Api-Key: [REDACTED]\nAccept: */*"],
    [
      "in a header of a command",
      `curl -H "x-auth-token: h2" https://x`,
      `curl -H "x-auth-token: [REDACTED]" https://x`,
    ],
    ["in a cookie", "> Cookie: sid=1; theme=dark\n>", "> Cookie: [REDACTED]\n>"],
    ["behind its scheme", "Authorization: Digest abc, realm=x", "Authorization: Digest [REDACTED]"],
    ["in a line of settings", "user: ada\npassword: hunter2 # new\n", "user: ada\npassword: [REDACTED] # new\n"],
    ["in a query", "/x?access_token=abc&page=2", "/x?access_token=[REDACTED]&page=2"],
    ["in a query of a query", "/x?to=%2Fy%3Ftoken%3Dabc%26page%3D2", "/x?to=%2Fy%3Ftoken%3D[REDACTED]%26page%3D2"],
    ["after an option", "login --password hunter2 --name x", "login --password [REDACTED] --name x"],
    ["after an option with =", "login --api-key=hunter2 --name x", "login --api-key=[REDACTED] --name x"],
    ["of sshpass", "sshpass -p hunter2 ssh host", "sshpass -p [REDACTED] ssh host"],
    ["of mysql", "mysql -uroot -phunter2 shop", "mysql -uroot -p[REDACTED] shop"],
    ["of curl", "curl -u ada:hunter2 https://x", "curl -u ada:[REDACTED] https://x"],
    ["in XML", "<user>ada</user><password>hunter2</password>", "<user>ada</user><password>[REDACTED]</password>"],
    ["in a declaration", 'password: str = "hunter2"', 'password: str = "[REDACTED]"'],
    ["by index", `env["API_TOKEN"] = "hunter2"`, `env["API_TOKEN"] = "[REDACTED]"`],
    ["in a connection", "Server=a;Password=p@s,s)w;Db=x", "Server=a;Password=[REDACTED];Db=x"],
    ["with marks nobody sees", "pass\u200bword=hunter2", "pass\u200bword=[REDACTED]"],
    ["that was cut off", '{"password":"hunter2', '{"password":"[REDACTED]'],
    ["over lines", 'secret = """one\ntwo"""\nend', 'secret = """[REDACTED]"""\nend'],
  ])("%s", (_, text, clean) => {
    expect(scrubText(text)).toBe(clean);
    expect(scrubText(clean)).toBe(clean);
    expect(holdsKey(text)).toBe(false);
  });

  test.each([
    "password passwd secret token api_key apikey client_secret authorization x-api-key DB_PASSWORD CI_TOKEN",
    "passphrase pwd accessToken refresh_token AWS_SECRET_ACCESS_KEY private-key SMTP_PASS Set-Cookie credentials",
    "mysqlpassword config.db.password password2 signingKey X-Amz-Signature",
  ])("names: %s", (names) => {
    for (const name of names.split(" ")) expect(isSecretName(name), name).toBe(true);
  });

  test.each([
    "tokens maxTokens token_count tokenType nextPageToken eos_token time_to_first_token password_policy password_hash",
    "secretName key primary_key sort-key public_key keyId access_key_id passes first_pass compass author keyboard",
  ])("other names: %s", (names) => {
    for (const name of names.split(" ")) expect(isSecretName(name), name).toBe(false);
  });
});

describe("a member of a value", () => {
  test("is hidden by its name, and everything else stays as it is", () => {
    const value = {
      token: "abc",
      Authorization: "Bearer x",
      argv: ["run", "--password", "hunter2", "--verbose"],
      env: [{ name: "DB_PASSWORD", value: "hunter2" }],
      schema: { properties: { password: { type: "string", default: "hunter2" } }, required: ["password"] },
      passwords: ["a1", 2],
      maxTokens: 5,
      secret: "",
      password: 7,
      apiKey: null,
      credential: "$KEY",
      nextPageToken: "p2",
      pwd: true,
    };
    expect(scrubValue(value)).toEqual({
      ...value,
      token: "[REDACTED]",
      Authorization: "Bearer [REDACTED]",
      argv: ["run", "--password", "[REDACTED]", "--verbose"],
      env: [{ name: "DB_PASSWORD", value: "[REDACTED]" }],
      schema: { properties: { password: { type: "string", default: "[REDACTED]" } }, required: ["password"] },
      passwords: ["[REDACTED]", 2],
    });
    const clean = scrubValue(value);
    expect(scrubValue(clean)).toBe(clean);
  });
});

describe("a secret in another writing", () => {
  const KEY = "sk-proj-abcdefghijklmnop1234";
  const wraps: Readonly<Record<string, (text: string) => string>> = {
    base64: (text) => Buffer.from(text).toString("base64"),
    "base64 of URLs": (text) => Buffer.from(text).toString("base64url"),
    "hexadecimal digits": (text) => Buffer.from(text).toString("hex"),
    "base64 twice": (text) => Buffer.from(Buffer.from(text).toString("base64")).toString("base64"),
    "lines of base64": (text) =>
      (
        Buffer.from(text.padEnd(200, " more"))
          .toString("base64")
          .match(/.{1,76}/g) ?? []
      ).join("\n"),
  };
  test.each(Object.entries(wraps))("is hidden: %s", (_, wrap) => {
    for (const text of [KEY, `a ${KEY}`, `ab ${KEY} and more`, `export API_TOKEN=hunter2 # ${"x".repeat(12)}`]) {
      const written = wrap(text);
      for (const around of [written, `see "${written}".`, `data:text/plain;base64,${written}`, `{"a":"${written}"}`]) {
        expect(scrubText(around), around).toContain("[REDACTED]");
        expect(scrubText(around), around).not.toContain(written.replace(/=+$/, "").slice(8));
      }
    }
  });

  test("stays where there is no secret in it", () => {
    for (const wrap of Object.values(wraps)) {
      const text = `see ${wrap("The quick brown fox jumps over the lazy dog.")} there`;
      expect(scrubText(text)).toBe(text);
    }
  });
});

describe("sentences, code and settings without a secret", () => {
  test("are enough of them", () => expect(HARMLESS_LINES.length).toBeGreaterThanOrEqual(200));

  test.each(HARMLESS_LINES)("stays: %s", (line) => {
    expect(scrubText(line)).toBe(line);
  });
});

test("a long text of nothing but secrets is hidden whole, without a search for each", () => {
  for (const piece of ['"password":"hunter2",', "--password x ", "x-api-key: abc1\n", "token=a&"]) {
    expect(scrubText(piece.repeat(60_000))).toBe("[REDACTED]");
  }
});
