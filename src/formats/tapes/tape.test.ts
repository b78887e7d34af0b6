import { describe, expect, test } from "vitest";
import { randomTape } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { aRecord } from "../../testing/tape-files.ts";
import { i32, i64, u32, u64 } from "../json/codec.ts";
import { readJson, Unreadable } from "../json/exact-json.ts";
import {
  INTEGER_MEMBERS,
  isBodyHash,
  isStored,
  payload,
  payloadToRecord,
  printTapeHeader,
  printTapeRecord,
  RECORD_KINDS,
  type RecordKind,
  readTapeLine,
  recordToPayload,
  referencedBodies,
  type TapeRecord,
} from "./tape.ts";

const inline = { content_hash: "h", text: "t" };
const stored = { content_hash: "h", len_bytes: 4098 };

/** Every kind with its members in the order in which they are written. */
const KINDS: Readonly<Record<string, object>> = {
  clock_read: { source: "wall", value_ms: -5 },
  clock_sleep: { duration_ms: 5 },
  llm_call: { request_digest: "d", response: inline },
  decision_evaluation: { request_digest: "d", response: stored },
  file_read: { path: "p", content_hash: "h", len_bytes: 1 },
  file_write: { path: "p", content_hash: "h", len_bytes: 1 },
  file_delete: { path: "p" },
  process_spawn: {
    program: "p",
    args: ["b", "a"],
    cwd: "/",
    exit_code: -1,
    duration_ms: 1,
    stdout_payload: inline,
    stderr_payload: stored,
  },
  mcp_json_rpc: {
    server: "s",
    method: "m",
    request_digest: "d",
    response_digest: "d",
    latency_ms: 1,
    request_payload: inline,
    response_payload: stored,
  },
  model_job: {
    job_id: "j",
    request_id: "r",
    backend: "b",
    state: "s",
    event_kind: "e",
    event: inline,
    asset_digests: ["b", "a", "a"],
  },
};

const record = (kind: object, over: object = {}) => ({
  type: "record",
  seq: 0,
  phase: "user_script",
  virtual_time_ms: 0,
  monotonic_ms: 0,
  kind,
  ...over,
});
const header = { type: "header", version: 1, harn_version: "v", started_at_unix_ms: 1, script_path: "p", argv: ["a"] };

/** The line as a writer has it. */
function rewritten(line: string | object): string {
  const read = readTapeLine(readJson(typeof line === "string" ? line : JSON.stringify(line)));
  return read.type === "header" ? printTapeHeader(read.header) : printTapeRecord(read.record);
}

/** The text of a value with a number in one place that JavaScript has no number for. */
function withNumber(value: object, name: string, number: string): string {
  return JSON.stringify({ ...value, [name]: "@" }).replace('"@"', number);
}

describe("a record", () => {
  test("has one of ten kinds", () => {
    expect(Object.keys(RECORD_KINDS)).toEqual(Object.keys(KINDS));
  });

  test.each(Object.entries(KINDS))("is written as it was read: %s", (kind, members) => {
    const line = JSON.stringify(record({ kind, ...members }));
    expect(rewritten(line)).toBe(line);
  });

  test.each(Object.entries(KINDS))("may have its members in any order: %s", (kind, members) => {
    const { type, ...rest } = record(backwards({ kind, ...members }));
    expect(rewritten({ ...backwards(rest), type })).toBe(JSON.stringify(record({ kind, ...members })));
  });

  test.each(Object.entries(KINDS))("needs every member of its kind but `cwd`: %s", (kind, members) => {
    for (const name of Object.keys(members)) {
      for (const missing of [undefined, null]) {
        const line = record({ kind, ...members, [name]: missing });
        if (name === "cwd") expect(rewritten(line)).toContain('"cwd":null');
        else expect(() => rewritten(line), name).toThrow(Unreadable);
      }
    }
  });

  test.each(Object.entries(KINDS))("may not repeat a member of its kind: %s", (kind, members) => {
    for (const name of ["kind", ...Object.keys(members)]) {
      const whole = { kind, ...members } as Record<string, unknown>;
      const twice = `${JSON.stringify(whole).slice(0, -1)},${JSON.stringify({ [name]: whole[name] }).slice(1)}`;
      const line = JSON.stringify(record({})).replace('"kind":{}', `"kind":${twice}`);
      expect(() => rewritten(line), name).toThrow("is there twice");
    }
  });

  test.each(["type", "seq", "virtual_time_ms", "monotonic_ms", "kind"])("needs `%s`", (name) => {
    for (const missing of [undefined, null]) {
      expect(() => rewritten(record({ kind: "file_delete", path: "p" }, { [name]: missing }))).toThrow(Unreadable);
    }
  });

  test.each(["type", "seq", "phase", "virtual_time_ms", "monotonic_ms", "kind"])("may not repeat `%s`", (name) => {
    const whole = record({ kind: "unknown" }) as Record<string, unknown>;
    const twice = `${JSON.stringify(whole).slice(0, -1)},${JSON.stringify({ [name]: whole[name] }).slice(1)}`;
    expect(() => rewritten(twice)).toThrow("is there twice");
  });

  test("loses what is unknown, however often it is there", () => {
    const line = `{"x":1,"x":[],${JSON.stringify(record({ kind: "file_delete", y: 1, path: "p" })).slice(1)}`;
    expect(rewritten(line)).toBe(JSON.stringify(record({ kind: "file_delete", path: "p" })));
  });

  test("belongs to the script when nothing is said, and may belong to the clean-up", () => {
    expect(rewritten(record({ kind: "unknown" }, { phase: undefined }))).toContain('"phase":"user_script"');
    expect(rewritten(record({ kind: "unknown" }, { phase: "runtime_finalize" }))).toContain(
      '"phase":"runtime_finalize"',
    );
    for (const phase of ["", "User_Script", "later", null, 1, { user_script: null }]) {
      expect(() => rewritten(record({ kind: "unknown" }, { phase }))).toThrow(Unreadable);
    }
  });

  test.each(["from_the_future", "", "Clock_Sleep", "unknown", "constructor", "__proto__", "toString"])(
    "of the kind %j is unknown and loses all its members",
    (kind) => {
      const line = record({ kind, duration_ms: "no number", path: 1 });
      expect(rewritten(line)).toBe(JSON.stringify(record({ kind: "unknown" })));
    },
  );

  test("of an unknown kind may repeat anything but the word", () => {
    const line = (kind: string) => JSON.stringify(record({})).replace('"kind":{}', `"kind":${kind}`);
    expect(rewritten(line('{"kind":"new","a":1,"a":2,"path":"p","path":"p"}'))).toContain('{"kind":"unknown"}');
    expect(() => rewritten(line('{"kind":"new","kind":"new"}'))).toThrow("is there twice");
  });

  test("has its kind as an object with a word", () => {
    const flat = { ...record({}), kind: "clock_sleep", duration_ms: 250 };
    const kinds = [{}, { kind: null }, { kind: 1 }, ["clock_sleep", 250], null, 5];
    for (const line of [flat, ...kinds.map((kind) => record(kind as object))]) {
      expect(() => rewritten(line)).toThrow(Unreadable);
    }
  });

  test("reads a clock by one of two names", () => {
    expect(rewritten(record({ kind: "clock_read", source: "monotonic", value_ms: 1 }))).toContain("monotonic");
    expect(() => rewritten(record({ kind: "clock_read", source: "sun", value_ms: 1 }))).toThrow(Unreadable);
  });
});

describe("an integer", () => {
  const u64 = ["0", "18446744073709551615", "18446744073709551616", "-1"] as const;
  const i64 = ["-9223372036854775808", "9223372036854775807", "9223372036854775808", "-9223372036854775809"] as const;
  const i32 = ["-2147483648", "2147483647", "2147483648", "-2147483649"] as const;
  const u32 = ["0", "1", "4294967296", "-1"] as const;
  const ofKind = (kind: string, name: string) => (number: string) =>
    JSON.stringify(record({})).replace('"kind":{}', `"kind":${withNumber({ kind, ...KINDS[kind] }, name, number)}`);
  const ofRecord = (name: string) => (number: string) => withNumber(record({ kind: "unknown" }), name, number);
  const ofHeader = (name: string) => (number: string) => withNumber(header, name, number);

  test.each([
    ["version", ofHeader("version"), u32],
    ["started_at_unix_ms", ofHeader("started_at_unix_ms"), i64],
    ["seq", ofRecord("seq"), u64],
    ["virtual_time_ms", ofRecord("virtual_time_ms"), i64],
    ["monotonic_ms", ofRecord("monotonic_ms"), i64],
    ["clock_read value_ms", ofKind("clock_read", "value_ms"), i64],
    ["clock_sleep duration_ms", ofKind("clock_sleep", "duration_ms"), u64],
    ["file_read len_bytes", ofKind("file_read", "len_bytes"), u64],
    ["file_write len_bytes", ofKind("file_write", "len_bytes"), u64],
    ["process_spawn exit_code", ofKind("process_spawn", "exit_code"), i32],
    ["process_spawn duration_ms", ofKind("process_spawn", "duration_ms"), u64],
    ["mcp_json_rpc latency_ms", ofKind("mcp_json_rpc", "latency_ms"), u64],
  ])("has its borders: %s", (_, line, [least, most, above, beneath]) => {
    for (const number of [least, most]) expect(rewritten(line(number))).toBe(line(number));
    for (const number of [above, beneath, "1.0", "1e0", "-0", '"1"', "true"]) {
      expect(() => rewritten(line(number)), number).toThrow(Unreadable);
    }
  });
});

describe("a header", () => {
  test("is written with every member in order, whatever was there", () => {
    expect(rewritten(header)).toBe(JSON.stringify(header));
    expect(rewritten(backwards(header))).toBe(JSON.stringify(header));
    expect(rewritten({ type: "header", version: 0, harn_version: "", extra: 1 })).toBe(
      '{"type":"header","version":0,"harn_version":"","started_at_unix_ms":null,"script_path":null,"argv":[]}',
    );
  });

  test.each([
    { version: undefined },
    { harn_version: undefined },
    { harn_version: null },
    { script_path: 1 },
    { argv: null },
    { argv: [1] },
    { argv: "a" },
  ])("is refused with %j", (over) => {
    expect(() => rewritten({ ...header, ...over })).toThrow(Unreadable);
  });

  test("may not repeat a member that is known, and may repeat others", () => {
    for (const [name, value] of Object.entries(header)) {
      const twice = `${JSON.stringify(header).slice(0, -1)},${JSON.stringify({ [name]: value }).slice(1)}`;
      expect(() => rewritten(twice), name).toThrow("is there twice");
    }
    expect(rewritten(`{"seq":1,"seq":2,${JSON.stringify(header).slice(1)}`)).toBe(JSON.stringify(header));
  });
});

describe("a line", () => {
  test.each([
    "{}",
    '{"type":null}',
    '{"type":"Header"}',
    '{"type":"annotation"}',
    "[]",
    '["header",1,"v"]',
    '"header"',
    "1",
  ])("that is neither header nor record is refused: %s", (line) => {
    expect(() => rewritten(line)).toThrow(Unreadable);
  });
});

function backwards(value: object): object {
  return Object.fromEntries(Object.entries(value).reverse());
}

const read = (text: string) => payload.read(readJson(text));

describe("a payload", () => {
  test.each([
    ['{"text":"b","content_hash":"a"}', '{"content_hash":"a","text":"b"}'],
    ['{"len_bytes":5,"content_hash":"a"}', '{"content_hash":"a","len_bytes":5}'],
    // Both: the text decides, and the length is lost.
    ['{"content_hash":"a","len_bytes":5,"text":""}', '{"content_hash":"a","text":""}'],
    ['{"content_hash":"a","len_bytes":"no number","text":"b"}', '{"content_hash":"a","text":"b"}'],
    // What one shape knows the other does not, and may be repeated there.
    ['{"content_hash":"a","len_bytes":5,"len_bytes":6,"text":"b"}', '{"content_hash":"a","text":"b"}'],
    ['{"content_hash":"a","len_bytes":5,"text":"b","text":"c"}', '{"content_hash":"a","len_bytes":5}'],
    // A text that is none leaves the other shape.
    ['{"content_hash":"a","len_bytes":5,"text":null}', '{"content_hash":"a","len_bytes":5}'],
    ['{"content_hash":"a","len_bytes":5,"text":7}', '{"content_hash":"a","len_bytes":5}'],
    // Nobody looks at hashes or lengths.
    ['{"content_hash":"","text":"b"}', '{"content_hash":"","text":"b"}'],
    ['{"content_hash":"NOT HEX","len_bytes":0}', '{"content_hash":"NOT HEX","len_bytes":0}'],
    ['{"content_hash":"a","len_bytes":18446744073709551615}', '{"content_hash":"a","len_bytes":18446744073709551615}'],
    ['{"content_hash":"a","text":"b","x":1,"x":2}', '{"content_hash":"a","text":"b"}'],
  ])("is told by what is there: %s", (text, written) => {
    expect(payload.print(read(text))).toBe(written);
    expect(payload.print(read(written))).toBe(written);
  });

  test.each([
    "{}",
    '{"content_hash":"a"}',
    '{"text":"b"}',
    '{"len_bytes":5}',
    '{"content_hash":null,"text":"b"}',
    '{"content_hash":"a","content_hash":"a","text":"b"}',
    '{"content_hash":"a","content_hash":"a","len_bytes":5}',
    '{"content_hash":"a","text":"b","text":"b"}',
    '{"content_hash":"a","len_bytes":-1}',
    '{"content_hash":"a","len_bytes":5.0}',
    '{"content_hash":"a","len_bytes":18446744073709551616}',
    '["a","b"]',
    '"text"',
    "null",
  ])("that has neither shape is refused: %s", (text) => {
    expect(() => read(text)).toThrow(Unreadable);
  });

  test("is stored when it has a length and no text", () => {
    expect(isStored(read('{"content_hash":"a","len_bytes":5}'))).toBe(true);
    expect(isStored(read('{"content_hash":"a","len_bytes":5,"text":""}'))).toBe(false);
  });
});

const storedBody = (content_hash: string) => ({ content_hash, len_bytes: 1n });
const inlineBody = (content_hash: string) => ({ content_hash, text: "" });

describe("the bodies that a record refers to", () => {
  test.each<[RecordKind, string[]]>([
    [{ kind: "llm_call", request_digest: "r", response: storedBody("a") }, ["a"]],
    [{ kind: "decision_evaluation", request_digest: "r", response: storedBody("a") }, ["a"]],
    [{ kind: "llm_call", request_digest: "r", response: inlineBody("a") }, []],
    [
      {
        kind: "process_spawn",
        program: "p",
        args: [],
        cwd: null,
        exit_code: 0n,
        duration_ms: 0n,
        stdout_payload: storedBody("a"),
        stderr_payload: storedBody("a"),
      },
      ["a", "a"],
    ],
    [
      {
        kind: "mcp_json_rpc",
        server: "s",
        method: "m",
        request_digest: "r",
        response_digest: "r",
        latency_ms: 0n,
        request_payload: inlineBody("a"),
        response_payload: storedBody("b"),
      },
      ["b"],
    ],
    [
      {
        kind: "model_job",
        job_id: "",
        request_id: "",
        backend: "",
        state: "",
        event_kind: "",
        event: storedBody("a"),
        asset_digests: ["b"],
      },
      ["a"],
    ],
    [{ kind: "file_write", path: "p", content_hash: "a", len_bytes: 1n }, []],
    [{ kind: "unknown" }, []],
  ])("of %o are those of its stored payloads", (kind, hashes) => {
    expect([...referencedBodies(aRecord({ kind }))]).toEqual(hashes);
  });

  test("have names that cannot lead anywhere else", () => {
    expect(isBodyHash("0123456789abcdef".repeat(4))).toBe(true);
    for (const name of ["", "../secret", "A".repeat(64), "a".repeat(63), "a".repeat(65), `${"a".repeat(64)}\n`]) {
      expect(isBodyHash(name)).toBe(false);
    }
  });
});

const sleep = (ms: bigint, more: Partial<TapeRecord> = {}): TapeRecord => ({
  seq: 0n,
  phase: "user_script",
  virtual_time_ms: 0n,
  monotonic_ms: 0n,
  kind: { kind: "clock_sleep", duration_ms: ms },
  ...more,
});

describe("a record as JSON that anybody can read", () => {
  test("comes back as it was, whatever it says", () => {
    for (let seed = 0; seed < 300; seed++) {
      for (const record of randomTape(randomFrom(seed)).records) {
        const payload = JSON.parse(JSON.stringify(recordToPayload(record)));
        expect(payloadToRecord(payload), `seed ${seed}`).toEqual(record);
      }
    }
  });

  test("has a text where a number would not be exact, and only there", () => {
    const most = 9007199254740991n;
    const said = (ms: bigint) => recordToPayload(sleep(ms)).kind["duration_ms"];
    expect([0n, most, most + 1n, 2n ** 64n - 1n].map(said)).toEqual([
      0,
      9007199254740991,
      "9007199254740992",
      "18446744073709551615",
    ]);
    expect(recordToPayload(sleep(0n, { virtual_time_ms: -(2n ** 63n) })).virtual_time_ms).toBe("-9223372036854775808");
  });

  test("knows every integer by its name, and no text has such a name", () => {
    const integers: unknown[] = [u32, u64, i32, i64];
    for (const members of Object.values(RECORD_KINDS)) {
      for (const [name, codec] of Object.entries(members)) {
        expect([name, INTEGER_MEMBERS.has(name)]).toEqual([name, integers.includes(codec)]);
      }
    }
  });

  test.each([
    ["nothing", undefined],
    ["no object", "record"],
    ["a number that is none", { ...recordToPayload(sleep(1n)), seq: "12x" }],
    ["a number that is not whole", { ...recordToPayload(sleep(1n)), seq: 1.5 }],
    ["a number that is too large", { ...recordToPayload(sleep(1n)), seq: "99999999999999999999" }],
    ["a member missing", { seq: 1 }],
  ])("is refused where it could not have been one: %s", (_, payload) => {
    expect(() => payloadToRecord(payload)).toThrow(Unreadable);
  });
});
