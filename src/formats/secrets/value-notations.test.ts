import { describe, expect, test } from "vitest";
import { scrubber } from "./scrub.ts";

const { scrubText } = scrubber();

describe("a value is hidden by a name that programs and people write before it", () => {
  test.each([
    ["of two words", "Access token: x1\nClient Secret: h2", "Access token: [REDACTED]\nClient Secret: [REDACTED]"],
    ["of three words, in a list", "- AWS secret access key: h2", "- AWS secret access key: [REDACTED]"],
    [
      "behind a level of a log",
      "INFO token: x1\n[WARN] password: h2",
      "INFO token: [REDACTED]\n[WARN] password: [REDACTED]",
    ],
    ["behind a logger", "INFO:root:token: x1", "INFO:root:token: [REDACTED]"],
    ["in the middle of a log line", "login ok, token: h2 (ada)\n", "login ok, token: h2 (ada)\n"],
    ["in the middle of a sentence", "Use the password: hunter22 to log in.", "Use the password: [REDACTED] to log in."],
    ["at the end of a sentence", "Its password: h2.", "Its password: [REDACTED]."],
    ["at the end of a text in JSON", '{"msg":"got token: x1"}', '{"msg":"got token: [REDACTED]"}'],
    [
      "in bold",
      "**Password:** h2\n- **API token**: `two words`",
      "**Password:** [REDACTED]\n- **API token**: `[REDACTED]`",
    ],
    ["at the beginning of a sentence", "Password: hunter22 and more", "Password: [REDACTED] and more"],
    ["in bold of underscores", "__Password:__ h2", "__Password:__ [REDACTED]"],
    ["by Go, in a structure", "&{Name:ada Password:word Port:5}", "&{Name:ada Password:[REDACTED] Port:5}"],
    ["by Go, in a structure in another", "{Db:{Host:x Password:h2} N:1}", "{Db:{Host:x Password:[REDACTED]} N:1}"],
    ["by Go, in a map", "map[name:ada password:word]", "map[name:ada password:[REDACTED]]"],
    [
      "by PHP",
      "    [user] => ada\n    [password] => two words\n)",
      "    [user] => ada\n    [password] => [REDACTED]\n)",
    ],
    [
      "by PHP, in JSON",
      '{"a":"[token] => x\\n [n] => 1","b":"c"}',
      '{"a":"[token] => [REDACTED]\\n [n] => 1","b":"c"}',
    ],
    ["by PHP, in one line", "( [token] => a b [n] => 1 )", "( [token] => [REDACTED] [n] => 1 )"],
    ["by PHP, with its type", '["password"]=>\n  string(2) "h2"', '["password"]=>\n  string(2) "[REDACTED]"'],
    [
      "by Rust",
      '{ password: Some("h2"), token: String("x") }',
      '{ password: Some("[REDACTED]"), token: String("[REDACTED]") }',
    ],
    ["with the value below it", "db:\n  token:\n    h2\n  n: 1", "db:\n  token:\n    [REDACTED]\n  n: 1"],
    ["with the value in quotes below it", 'token:\n  "two words"\nn: 1', 'token:\n  "[REDACTED]"\nn: 1'],
    ["with a document behind it", "token = <<-EOT\n  a\n  b\n  EOT\nn = 1", "token = <<-EOT\n[REDACTED]\n  EOT\nn = 1"],
    ["with a document that was cut off", "TOKEN=<<END\na\nb", "TOKEN=<<END\n[REDACTED]"],
  ])("%s", (_, text, clean) => {
    expect(scrubText(text)).toBe(clean);
    expect(scrubText(clean)).toBe(clean);
  });

  test.each([
    ["words in a sentence", "Use the password: ask Ana. The access token: expired yesterday."],
    ["a word that ends the sentence", "Client Secret: unknown\nTwo words, one secret: patience"],
    ["a variable in code", "{\n  token: variable12,\n  secret: variable12; }"],
    ["numbers", "Max tokens per token: 4096. The last token: 12"],
    [
      "days and amounts",
      "End of the token: 2026-01-01T00:00:00Z. Age of the token: 30min. Bits of the secret: 256bits",
    ],
    ["an address of a person", "Reset the password: ada1@mail.example.org"],
    ["an address and a path", "Get a token: https://x.example/t1\nMove the secret: /etc/app1"],
    ["types of languages", "let token: UInt32\nself, key: str, private_key: ed25519.Ed25519PrivateKey, token: u8"],
    ["calls and lists", "make token: read(x1) and token: [a1] or token: {b1}"],
    ["code without blanks", "f({token:a1,password:b1});g={User:a,token:b1}"],
    ["references", `see \${A:} token: \${A:-$B} and {A:b}`],
    ["a list of a function in PHP", "[$token] => x1\narray_map([token], fn() => 1)"],
    ["code below a name", "cond ? a : token:\n  value1;\ntoken:\n  read(x1),\n"],
    ["a line that is not below its name", "token:\nvalue1\n"],
  ])("and not where there is none: %s", (_, text) => {
    expect(scrubText(text)).toBe(text);
  });
});
