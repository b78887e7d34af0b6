import { describe, expect, test, vi } from "vitest";
import { newApiKey } from "../../engine/identity/authenticate.ts";
import { turnsOf } from "../../testing/at-once.ts";
import { tokensAt } from "../../testing/engine.ts";
import { cleaned, cleanedInSteps } from "./clean-value.ts";
import { KnownValues } from "./known-values.ts";
import { loadRuleSet } from "./rule-set.ts";
import { scrubber, someLongWord } from "./scrub.ts";
import { SECRET_SHAPES } from "./secret-shapes.ts";

/** As hosts have it; the shapes must hold without the rule set too. */
const { scrubText, scrubValue } = scrubber({ more: await loadRuleSet() });
const alone = scrubber();

const CANARY = "sk-canary-rfc0056-do-not-leak-abc123";
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwYXQifQ.c2lnbmF0dXJl";
/** What stands before a secret in headers, code, JSON, URLs, logs and sentences. */
const BEFORE = [...` \t\n"'\`=:,;([{<>|/.@#*-_`, "\\n", "\\t", "\\u0022", "%20", "%3D", "é", "秘"];
/** Which of those are part of the secret's own alphabet, or of the words it needs around it, is the shape's affair. */
const BY_PREFIX = SECRET_SHAPES.filter(({ example }) => /^[A-Za-z]+[-_][A-Za-z0-9]|^A[KS]I|^AIza/.test(example));

describe("the shape of a secret", () => {
  test.each(SECRET_SHAPES)("$id: is taken out, alone and in a text", ({ example, pattern }) => {
    const [match] = [...example.matchAll(pattern)];
    const secret = match?.[0].slice(match.groups?.["kept"]?.length ?? 0) ?? "";
    const shown = example.replace(secret, "[REDACTED]");
    expect(alone.scrubText(example)).toBe(shown);
    expect(alone.scrubText(`before (${example}) after`)).toBe(`before (${shown}) after`);
    expect(scrubText(`before (${example}) after`)).toMatch(/^before \(.*\[REDACTED\].*\) after$/s);
    expect(scrubText(example)).not.toContain(secret);
  });

  test.each(SECRET_SHAPES)("$id: is taken out where it is as short as it can be", ({ example, pattern }) => {
    const matching = (text: string) => text.match(pattern) !== null;
    let shortest = example;
    while (matching(shortest.slice(0, -1))) shortest = shortest.slice(0, -1);
    while (matching(shortest.slice(1))) shortest = shortest.slice(1);
    expect(alone.scrubText(`a ${shortest}`)).toContain("[REDACTED]");
  });

  test.each(SECRET_SHAPES)("$id: its trigger is in its example, or it would never be looked for", (shape) => {
    expect(shape.trigger.test(shape.example)).toBe(true);
    expect(shape.example.match(shape.pattern)).toHaveLength(1);
  });

  test.each(BY_PREFIX)("$id: begins after anything that is not part of a word", ({ example }) => {
    for (const before of BEFORE) expect(scrubText(`a${before}${example}`), before).toBe(`a${before}[REDACTED]`);
    expect(scrubText(`${example}"}`)).toBe('[REDACTED]"}');
  });

  test.each(BY_PREFIX)("$id: does not begin inside a word", ({ example }) => {
    expect(alone.scrubText(`x${example}`)).toBe(`x${example}`);
    expect(alone.scrubText(`7${example}`)).toBe(`7${example}`);
  });

  test("has a name of its own", () => {
    expect(new Set(SECRET_SHAPES.map(({ id }) => id)).size).toBe(SECRET_SHAPES.length);
  });
});

describe("a secret", () => {
  test.each([
    ["the canary", `note: ${CANARY}.`, "note: [REDACTED]."],
    ["the shortest secret key", "sk_0123456789abcdef", "[REDACTED]"],
    ["a key of a project", "OPENAI=sk-proj-abcdefghij_klmnop-1234", "OPENAI=[REDACTED]"],
    ["an example key from a manual", "id AKIAIOSFODNN7EXAMPLE", "id [REDACTED]"],
    ["a temporary AWS key", "ASIAY34FZKBOKMUTVV7A", "[REDACTED]"],
    [
      "of a user with an @",
      "smtp://ann@example.org:h2@mail.example.org",
      "smtp://ann@example.org:[REDACTED]@mail.example.org",
    ],
    ["every kind of GitHub token", "gho_0123456789abcdef ghs_0123456789abcdef", "[REDACTED] [REDACTED]"],
    ["a token with five parts", `${JWT}.YQ.Yg end`, "[REDACTED] end"],
    ["a token at the end of a sentence", `It was ${JWT}.`, "It was [REDACTED]."],
    ["a token in a path", `/reset-${JWT}/now`, "/reset-[REDACTED]/now"],
    ["a token that begins like two", `eyJhbGciOi-${JWT}`, "[REDACTED]"],
    ["a header", "authorization: bearer x1", "authorization: bearer [REDACTED]"],
    ["a header in JSON", '{"Authorization":"Basic dTpw"}', '{"Authorization":"Basic [REDACTED]"}'],
    [
      "a header in JSON in a text",
      '{\\"authorization\\": \\"Token t\\"}',
      '{\\"authorization\\": \\"Token [REDACTED]\\"}',
    ],
    ["a bearer without its header", "curl with Bearer abcdefg8", "curl with Bearer [REDACTED]"],
    ["a long bearer without a digit", `BEARER ${"ab-".repeat(7)}`, "BEARER [REDACTED]"],
    ["a password", "redis://:p4ss@h:6379/0", "redis://:[REDACTED]@h:6379/0"],
    ["a password with an @ in it", "https://u:p@ss:w@h/x?y=a@b", "https://u:[REDACTED]@h/x?y=a@b"],
    ["a Slack workflow", "hooks.slack.com/triggers/T1/22/abcdef0123", "hooks.slack.com/triggers/[REDACTED]"],
    [
      "a private key with line breaks written out",
      '{"k":"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n"}',
      '{"k":"[REDACTED]\\n"}',
    ],
    [
      "a private key with headers, and what follows is kept",
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\n-----END RSA PRIVATE KEY-----\nbye",
      "[REDACTED]\nbye",
    ],
    ["a private key that was cut off", "x -----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn", "x [REDACTED]"],
    ["a PGP key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----", "[REDACTED]"],
  ])("is taken out: %s", (_, text, clean) => {
    expect(scrubText(text)).toBe(clean);
    expect(scrubText(clean)).toBe(clean);
  });

  test("of our own making is taken out", () => {
    for (let i = 0; i < 50; i++) expect(scrubText(`ASSAY_KEY=${newApiKey()}`)).toBe("ASSAY_KEY=[REDACTED]");
    const expiresAt = "2027-03-01T12:00:00.000Z";
    const claims = { runId: "r", nodeId: "n", interruptId: "i", expiresAt, intent: "resolve" } as const;
    const token = tokensAt(Date.now).mint(claims);
    expect(scrubText(`/v1/interrupts/${token} now`)).toBe("/v1/interrupts/[REDACTED] now");
  });
});

describe("a text that only looks a little like one", () => {
  test.each([
    "the task-force-of-twelve-people met",
    "risk-assessment-and-mitigation-plan",
    "the cred_check step calls cred_rotation_schedule, cred_v2 and cred_",
    "disk_usage_percentage_of_the_host",
    "sk-short and sk_0123456789abcde",
    "AKIA and AKIA0123456789abcde",
    "xoxo- hugs, xoxb-short",
    "high_ground ghp_short ghosts_in_the_machine_of_state",
    "npm_config_registry and npm_lifecycle_event",
    "github_pat_short glpat-short AIzaShort",
    "pk_test_51H8xYzAbCdEfGhIj",
    "assay_vote_recorded_at_some_gate_of_this_house",
    "eyJ is how base64 of JSON begins; eyJhbGciOiJIUzI1NiJ9 is a head alone",
    "the bearer of good news, bearer authentication, a bearer instrument.",
    "WWW-Authenticate: Bearer",
    "authorization: none",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "http://127.0.0.1:4100/v1/runs?x=a@b",
    '{"url":"http://localhost:4100","mail":"ada@example.org"}',
    "https://ada@example.org/path",
    "https://hooks.slack.com/services/",
    "",
    "plain",
  ])("stays: %s", (text) => {
    expect(scrubText(text)).toBe(text);
  });
});

describe("a JSON value", () => {
  test("that is a list is read item by item, without a text for each place", () => {
    const ownKeys = vi.fn(Reflect.ownKeys);
    expect(cleaned(new Proxy(["a", 1], { ownKeys }), (text) => `${text}!`)).toEqual(["a!", 1]);
    expect(ownKeys).not.toHaveBeenCalled();
  });

  test("is cleaned in every string, at every depth", () => {
    const value = {
      list: ["ok", CANARY, [{ deep: `x ${CANARY}` }]],
      n: 7,
      yes: true,
      none: null,
    };
    expect(scrubValue(value)).toEqual({
      list: ["ok", "[REDACTED]", [{ deep: "x [REDACTED]" }]],
      n: 7,
      yes: true,
      none: null,
    });
    expect(value.list[1]).toBe(CANARY);
    expect(scrubValue(CANARY)).toBe("[REDACTED]");
  });

  test("is cleaned in the names of its members, and no member is lost", () => {
    const value = { [CANARY]: 1, [`${CANARY}x`]: { [JWT]: 2, ok: 3 }, "[REDACTED] 2": 4, ok: 5 };
    expect(scrubValue(value)).toEqual({
      "[REDACTED]": 1,
      "[REDACTED] 3": { "[REDACTED]": 2, ok: 3 },
      "[REDACTED] 2": 4,
      ok: 5,
    });
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`${CANARY}${i}`, i]));
    expect(Object.values(scrubValue(many))).toEqual(Object.values(many));
  });

  test("is cleaned under a secret name of the values that a schema gives, and its declaration stays", () => {
    const of = (value: string) => ({
      properties: {
        apiKey: { type: "string", const: value, enum: [value], examples: [value], default: value },
        token: { type: "string", enum: ["ETH-main", "BTC-main"] },
      },
      required: ["apiKey", "token"],
    });
    expect(scrubValue(of("tuesday-morning"))).toEqual(of("[REDACTED]"));
  });

  test("that is a map is cleaned like an object, and stays a map", () => {
    const of = (value: string) =>
      new Map([
        [
          "env",
          [
            new Map([
              ["name", "DB_PASSWORD"],
              ["value", value],
            ]),
          ],
        ],
      ]);
    expect(scrubValue(of("tuesday-morning"))).toEqual(of("[REDACTED]"));
    const clean = new Map([["env", ["x"]]]);
    expect(scrubValue(clean)).toBe(clean);
  });

  test("without a secret is returned as it is, also the part of one that has none", () => {
    const clean = { a: ["b", { c: 1, d: Number.NaN }] };
    expect(scrubValue(clean)).toBe(clean);
    expect(scrubValue({ clean, dirty: CANARY }).clean).toBe(clean);
  });

  test("keeps a member called __proto__ a member", () => {
    const value: unknown = JSON.parse(`{"__proto__":{"a":"${CANARY}"},"b":"${CANARY}"}`);
    expect(JSON.stringify(scrubValue(value))).toBe('{"__proto__":{"a":"[REDACTED]"},"b":"[REDACTED]"}');
  });
});

describe("a scrubber that knows secrets", () => {
  test("takes them out whatever they look like, the longer one first", () => {
    const known = scrubber({ known: ["open sesame", "open sesame seed", "$& (.*)"] });
    expect(known.scrubText("say open sesame seed, open sesame")).toBe("say [REDACTED], [REDACTED]");
    expect(known.scrubText(`a $& (.*)7 b ${CANARY}`)).toBe("a $& (.*)7 b [REDACTED]");
    expect(known.scrubText('{"a":"open\u0020sesame"} ?a=open%20sesame%2520')).toBe(
      '{"a":"[REDACTED]"} ?a=[REDACTED]%2520',
    );
    expect(known.scrubValue({ a: "open sesame" })).toEqual({ a: "[REDACTED]" });
    expect(scrubText("open sesame")).toBe("open sesame");
  });

  test("learns new ones, and forgets those that are none any more", () => {
    const known = new KnownValues(["open sesame"]);
    const { scrubText } = scrubber({ known });
    known.set(["shut sesame", "shut sesame!"]);
    expect(scrubText("open sesame, shut sesame! shut sesame")).toBe("open sesame, [REDACTED] [REDACTED]");
  });

  test("leaves those alone that are too short to differ from words", () => {
    expect(scrubber({ known: ["", "open"] }).scrubText("open the door")).toBe("open the door");
  });
});

test("what a secret hid is looked at too, and a text that goes on changing is hidden whole", () => {
  const hidden = `key-${"0".repeat(32)}Gpul-${"1".repeat(40)}`;
  expect(scrubText(hidden)).toBe("[REDACTED]Gpul-1111111111111111111111111111111111111111");
  const glued = `rubygems_${"0".repeat(40)}pul-${"1".repeat(40)}`;
  expect(scrubText(`${glued} end`)).toBe("[REDACTED][REDACTED] end");
  expect(scrubText(`${glued.repeat(20)} end`)).toBe("[REDACTED]");
});

test("a text that a rule cannot read is hidden whole", () => {
  const broken = scrubber({
    more: () => {
      throw new Error("no idea");
    },
  });
  expect(broken.scrubText("a bearer of news")).toBe("[REDACTED]");
});

test("others have their turn while a value of many parts is scrubbed", () => {
  const rows = Array.from({ length: 50 }, () => ({
    password: Array.from({ length: 100 }, () => [1]),
    list: Array.from({ length: 100 }, () => "a"),
  }));
  expect(turnsOf(cleanedInSteps(rows, (text) => text))).toBeGreaterThan(9);
});

test.each(["pass\\word-0123456789", "p\u00e4ssw\u00f6rd-0123456789"])(
  "a known value is found in JSON, base64 and hexadecimal digits: %s",
  (value) => {
    const { scrubText } = scrubber({ known: [value] });
    const texts = [
      JSON.stringify(value),
      JSON.stringify(JSON.stringify({ value })),
      Buffer.from(value).toString("hex"),
    ];
    const wrapped = ["", "x", "xy"].map((before) => Buffer.from(`${before}${value} y`).toString("base64"));
    for (const text of [...texts, ...wrapped]) expect(scrubText(text)).toContain("[REDACTED]");
  },
);

function longWords(text: string): string[] {
  const found: string[] = [];
  someLongWord(text, (word) => {
    found.push(word);
    return false;
  });
  return found;
}

describe("the search for long words", () => {
  test("sees every long word of a text once, wherever it begins", () => {
    const words = ["w".repeat(15), "run-01k4abcdefgh", `a=b:${"c".repeat(100)}/d%20@e`];
    for (const word of words) {
      for (let before = 0; before < 50; before++) {
        expect(longWords(`${" ".repeat(before)}${word} b`)).toEqual([word]);
        expect(longWords(`${"é ".repeat(before)}${word}"${word}`)).toEqual([word, word]);
      }
    }
  });

  test("passes shorter ones over", () => {
    for (let before = 0; before < 20; before++) {
      expect(longWords(`${" ".repeat(before)}${"w".repeat(14)} and ${"w".repeat(14)}é`)).toEqual([]);
    }
  });

  test("stops at the first that is wanted", () => {
    expect(someLongWord(`${"a".repeat(20)} ${"b".repeat(20)}`, (word) => word.startsWith("b"))).toBe(true);
    expect(someLongWord("", () => true)).toBe(false);
  });
});
