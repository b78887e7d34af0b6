import { describe, expect, test } from "vitest";
import { MASK } from "../../protocol/events.ts";
import { randomRow, randomTape } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { aRow } from "../../testing/tape-files.ts";
import { scrubber } from "../secrets/scrub.ts";
import { redactRow, scrubLine, TapeScrubber } from "./scrub.ts";
import { printRow, type Row } from "./sidecar/sidecar.ts";
import type { TapeRecord } from "./tape.ts";

const scrub = (text: string) => text.replaceAll("secret", "[REDACTED]");
const HASH = "ab".repeat(32);

const record = (program: string, text: string): TapeRecord => ({
  seq: 18446744073709551615n,
  phase: "user_script",
  virtual_time_ms: 1n,
  monotonic_ms: 2n,
  kind: {
    kind: "process_spawn",
    program,
    args: ["--key", "secret"],
    cwd: null,
    exit_code: 0n,
    duration_ms: 3n,
    stdout_payload: { content_hash: HASH, text },
    stderr_payload: { content_hash: HASH, len_bytes: 9n },
  },
});

test("every text of a record is cleaned and counted, and nothing else changes", () => {
  const cleaning = new TapeScrubber(scrub);
  const clean = cleaning.record(record("secret", "a secret and a secret"));
  expect(cleaning.scrubbed).toBe(3);
  const expected = record("[REDACTED]", "a [REDACTED] and a [REDACTED]");
  expect(clean).toEqual({ ...expected, kind: { ...expected.kind, args: ["--key", "[REDACTED]"] } });
});

test("a record without secrets is left as it is, and the header is cleaned like any record", () => {
  const cleaning = new TapeScrubber(scrub);
  const plain: TapeRecord = { ...record("", ""), kind: { kind: "file_delete", path: "a" } };
  expect(cleaning.record(plain)).toBe(plain);
  const header = { version: 1n, harn_version: "1", started_at_unix_ms: null, script_path: "secret", argv: ["secret"] };
  expect(cleaning.header(header)).toEqual({ ...header, script_path: "[REDACTED]", argv: ["[REDACTED]"] });
  expect(cleaning.scrubbed).toBe(2);
});

test("the name of a body is never taken for a secret", () => {
  const cleaning = new TapeScrubber(() => "[REDACTED]");
  expect(cleaning.text(HASH)).toBe(HASH);
  expect(cleaning.text(HASH.slice(1))).toBe("[REDACTED]");
});

test("secrets in a recorded command line go, by the option before them, and other arguments stay", () => {
  const cleaning = new TapeScrubber((text) => text.replaceAll("field7key", "[REDACTED]"));
  const args = [
    "--password",
    "tulipfield7",
    "-u",
    "ann:tulipfield7",
    "--user",
    "field7key:x-basic",
    "-u",
    "www:80",
    "-v",
  ];
  const spawned = record("psql", "");
  const clean = cleaning.record({ ...spawned, kind: { ...spawned.kind, args } as TapeRecord["kind"] });
  const kept = [
    "--password",
    "[REDACTED]",
    "-u",
    "ann:[REDACTED]",
    "--user",
    "[REDACTED]:[REDACTED]",
    "-u",
    "www:80",
    "-v",
  ];
  expect(clean.kind).toEqual({ ...spawned.kind, args: kept });
  const header = { version: 1n, harn_version: "1", started_at_unix_ms: null, script_path: null };
  const argv = cleaning.header({ ...header, argv: ["--api-key", "tulipfield7"] }).argv;
  expect(argv).toEqual(["--api-key", "[REDACTED]"]);
  expect(cleaning.scrubbed).toBe(4);
});

test("the recorded program decides whether a short option has a secret", () => {
  const cleaning = new TapeScrubber((text) => text);
  const spawned = (program: string, secret: string): TapeRecord => {
    const { kind, ...rest } = record(program, "");
    return { ...rest, kind: { ...kind, args: ["-p", secret, "ssh"] } as TapeRecord["kind"] };
  };
  expect(cleaning.record(spawned("sshpass", "tulipfield7"))).toEqual(spawned("sshpass", "[REDACTED]"));
  expect(cleaning.scrubbed).toBe(1);
  const plain = spawned("mkdir", "tulipfield7");
  expect(cleaning.record(plain)).toBe(plain);
});

test("addresses, paths and numbers after an option that may take a login stay", () => {
  const cleaning = new TapeScrubber((text) => text);
  const args = [
    "-u",
    "https://example.com/a",
    "-u",
    "unix:/run/x",
    "-u",
    "C:\\data",
    "--user",
    "1000:1000",
    "-u",
    "node:node",
  ];
  const spawned = record("tool", "");
  const plain = { ...spawned, kind: { ...spawned.kind, args } as TapeRecord["kind"] };
  expect(cleaning.record(plain)).toBe(plain);
});

test("a list under a secret name and a value beside its name go from a recorded event", () => {
  const cleaning = new TapeScrubber((text) => text);
  const of = (value: string) => {
    const event = { passwords: [value], env: [{ name: "DB_PASSWORD", value }] };
    return { ...record("tool", ""), kind: { kind: "model_job", event } } as unknown as TapeRecord;
  };
  expect(cleaning.record(of("tulipfield7"))).toEqual(of("[REDACTED]"));
  expect(cleaning.scrubbed).toBe(2);
});

const SECRET = "correct-horse-battery";
const secretScrubber = scrubber({ known: [SECRET] });

/** The secret in every text there is. */
const rowWithSecrets: Row = {
  id: SECRET,
  event_id: 2n ** 64n - 1n,
  kind: "friction",
  evidence: `use ${SECRET}`,
  suggested_fix: [SECRET, new Map([["deep", [SECRET]]])],
  author: { id: SECRET, kind: "human", surface: SECRET },
  timestamp: SECRET,
  span: { start_event_id: 1n, end_event_id: 2n },
  hypothesis_status: "active",
  friction_kind: SECRET,
  links: [{ label: SECRET, url: `https://x.test/?k=${SECRET}`, reference: SECRET }],
  metadata: new Map([[SECRET, new Map([[`${SECRET}!`, `${SECRET}.`]])]]),
};

describe("a row that is redacted", () => {
  test("has no secret in any of its texts, nor in the names of members", () => {
    const printed = printRow(redactRow(rowWithSecrets, secretScrubber));
    expect(printed).not.toContain(SECRET);
    expect(printed).toContain('"event_id":18446744073709551615');
    // The mask stands wherever the secret stood.
    expect(printed.split(MASK)).toHaveLength(printRow(rowWithSecrets).split(SECRET).length);
  });

  test.each([
    ["a list under a secret name", (value: string) => new Map([["passwords", [value]]])],
    [
      "a value beside its name",
      (value: string) => [
        new Map([
          ["name", "DB_PASSWORD"],
          ["value", value],
        ]),
      ],
    ],
    ["the argument of an option", (value: string) => ["psql", "--password", value]],
    [
      "a value within the description of a name",
      (value: string) => new Map([["apiKey", new Map([["default", value]])]]),
    ],
  ])("loses %s in what its author wrote freely", (_, written) => {
    const row = (value: string) =>
      aRow({ suggested_fix: written(value), metadata: new Map([["deep", written(value)]]) });
    expect(printRow(redactRow(row("tuesday-morning"), secretScrubber))).toBe(printRow(row(MASK)));
  });

  test("loses the login of a command in what its author wrote freely", () => {
    const row = (login: string) => aRow({ suggested_fix: ["curl", "-u", login] });
    expect(printRow(redactRow(row("ann:tuesday-morning"), secretScrubber))).toBe(printRow(row(`ann:${MASK}`)));
  });

  test("loses no member when two names become one", () => {
    const metadata = new Map([
      [SECRET, 1n],
      [`${MASK}`, 2n],
      [`${MASK} 2`, 3n],
    ]);
    const { metadata: clean } = redactRow(aRow({ metadata }), secretScrubber);
    expect([...clean.values()].sort()).toEqual([1n, 2n, 3n]);
    expect(clean.get(MASK)).toBe(2n);
  });

  test("is the same as before, to the byte, when there is nothing to hide", () => {
    const random = randomFrom(11);
    const tape = randomTape(random);
    for (let round = 0; round < 200; round++) {
      const row = randomRow(random, tape);
      expect(printRow(redactRow(row, secretScrubber))).toBe(printRow(row));
    }
  });
});

const { scrubText } = scrubber({ known: ["hunter22", "83921746"] });
const TOKEN = `ghp_${"a1B2".repeat(9)}`;

test.each([
  ["a row without secrets", ' {"type":"annotation" , "event_id":1.0e0 ,"kind":"x\\u0041"} '],
  ["a comment", "# nothing here"],
  ["what is no JSON", "{"],
])("%s stays as it is", (_, line) => {
  expect(scrubLine(line, scrubText)).toBe(line);
});

test.each([
  ["a comment", `# see ${TOKEN}`, "# see [REDACTED]"],
  [
    "the texts of a row, and nothing else of it",
    `{ "type":"annotation","event_id":18446744073709551615,"kind":"note", "x":[1.50,"a ${TOKEN} b"],"hunter22":"\\u0041" }`,
    '{ "type":"annotation","event_id":18446744073709551615,"kind":"note", "x":[1.50,"a [REDACTED] b"],"[REDACTED]":"\\u0041" }',
  ],
  [
    "a secret that is written in escapes",
    `{"type":"annotation","event_id":1,"kind":"note","evidence":"\\u0068unter22"}`,
    `{"type":"annotation","event_id":1,"kind":"note","evidence":"[REDACTED]"}`,
  ],
  [
    "a key of several lines, up to the end of its text",
    '{"type":"annotation","event_id":1,"evidence":"-----BEGIN RSA PRIVATE KEY-----\\nMIIE","kind":"note"}',
    '{"type":"annotation","event_id":1,"evidence":"[REDACTED]","kind":"note"}',
  ],
  [
    "what is no text, though nobody can read the row then",
    '{"type":"annotation","event_id":1,"kind":"note","evidence":"hunter22","pin":83921746}',
    '{"type":"annotation","event_id":1,"kind":"note","evidence":"[REDACTED]","pin":[REDACTED]}',
  ],
])("secrets are taken out of %s", (_, line, clean) => {
  expect(scrubLine(line, scrubText)).toBe(clean);
  expect(scrubLine(clean, scrubText)).toBe(clean);
});
