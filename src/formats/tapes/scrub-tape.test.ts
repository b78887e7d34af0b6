import { expect, test } from "vitest";
import { TapeScrubber } from "./scrub-tape.ts";
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
