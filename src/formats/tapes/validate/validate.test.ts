import { describe, expect, test } from "vitest";
import { randomSidecarText } from "../../../testing/random-lines.ts";
import { inPieces, mutated, randomTape } from "../../../testing/random-tapes.ts";
import { randomFrom } from "../../../testing/random-workflow.ts";
import { aRecord, aRow, aSidecarHeader, aTapeHeader, bytesOf } from "../../../testing/tape-files.ts";
import { exactly, type Outcome, quickly } from "../../../testing/validate-both-ways.ts";
import { digestOf } from "../digest.ts";
import type { Row, SidecarHeader } from "../sidecar/sidecar.ts";
import { factsOf } from "../tape-facts.ts";
import { printReport } from "./print-findings.ts";
import { validate } from "./validate.ts";

const MOST = 2n ** 64n - 1n;
const records = [0n, 1n, 5n].map((seq) => aRecord({ seq }));

async function verdictOn(rows: Partial<Row>[], header: Partial<SidecarHeader> = {}, tape = records) {
  const sidecar = { header: aSidecarHeader(header), rows: rows.map(aRow) };
  return validate(sidecar, { header: aTapeHeader(), records: tape });
}

async function problemsOf(...rows: Partial<Row>[]) {
  const { findings } = await verdictOn(rows);
  return [...findings].map(({ problem }) => problem);
}

async function codesOf(row: Partial<Row>) {
  return (await problemsOf(row)).map(({ code }) => code);
}

describe("an annotation", () => {
  test("about an event of the tape is fine", async () => {
    expect(await problemsOf({ event_id: 5n })).toEqual([]);
  });

  test("is named by its event when it has no id", async () => {
    expect(await problemsOf({ event_id: 2n }, { event_id: 3n, id: "a" })).toEqual([
      { code: "unknown_event_id", annotation_id: "ann@event_2", event_id: 2n },
      { code: "unknown_event_id", annotation_id: "a", event_id: 3n },
    ]);
  });

  test("may use an id once; every further use is reported, and none is no id", async () => {
    expect(await problemsOf({ id: "a" }, { id: "" }, { id: "a" }, { id: "" }, { id: "A" }, { id: "a" })).toEqual([
      { code: "duplicate_id", annotation_id: "a" },
      { code: "duplicate_id", annotation_id: "a" },
    ]);
  });

  test.each<[Partial<Row>, string[]]>([
    [{ kind: "hypothesis" }, ["hypothesis_status_missing"]],
    [{ kind: "hypothesis", hypothesis_status: "active" }, []],
    [{ kind: "hypothesis", friction_kind: "x" }, ["hypothesis_status_missing", "friction_kind_unexpected"]],
    [{ kind: "friction", friction_kind: "tool_gap" }, []],
    [{ kind: "friction" }, ["friction_kind_missing"]],
    [{ kind: "friction", friction_kind: "" }, ["friction_kind_unknown"]],
    [
      { kind: "friction", friction_kind: "Tool_gap", hypothesis_status: "stale" },
      ["hypothesis_status_unexpected", "friction_kind_unknown"],
    ],
    [
      { kind: "mute", friction_kind: "tool_gap", hypothesis_status: "stale" },
      ["hypothesis_status_unexpected", "friction_kind_unexpected"],
    ],
    [{ kind: "unknown", friction_kind: "x", hypothesis_status: "stale" }, ["unknown_kind"]],
  ])("%o has %j", async (row, codes) => {
    expect(await codesOf(row)).toEqual(codes);
  });

  test("has a span from its own event to one that is neither before it nor past the tape", async () => {
    const span = (start: bigint, end: bigint) => ({ start_event_id: start, end_event_id: end });
    for (const end of [0n, 3n, 5n]) expect(await problemsOf({ span: span(0n, end) })).toEqual([]);
    expect(await problemsOf({ id: "a", event_id: 1n, span: span(5n, 4n) }, { id: "b", span: span(1n, 6n) })).toEqual([
      { code: "invalid_span", annotation_id: "a", message: "span.start_event_id (5) must equal event_id (1)" },
      { code: "invalid_span", annotation_id: "a", message: "span.end_event_id (4) is before start_event_id (5)" },
      { code: "invalid_span", annotation_id: "b", message: "span.start_event_id (1) must equal event_id (0)" },
      {
        code: "invalid_span",
        annotation_id: "b",
        message: "span.end_event_id (6) is past the last tape event (seq=5)",
      },
    ]);
  });

  test("has all its problems said, in one order", async () => {
    const row = aRow({
      id: "a",
      event_id: MOST,
      kind: "note",
      hypothesis_status: "active",
      friction_kind: "x",
      span: { start_event_id: 9n, end_event_id: 8n },
    });
    const { findings } = await verdictOn([{ id: "a" }, row]);
    expect([...findings].map(({ problem, line }) => `${line} ${problem.code}`)).toEqual([
      "3 duplicate_id",
      "3 unknown_event_id",
      "3 hypothesis_status_unexpected",
      "3 friction_kind_unexpected",
      "3 invalid_span",
      "3 invalid_span",
      "3 invalid_span",
    ]);
  });

  test("ends where it likes when the tape has no events", async () => {
    const { findings } = await verdictOn([{ span: { start_event_id: 0n, end_event_id: MOST } }], {}, []);
    expect([...findings].map(({ problem }) => problem.code)).toEqual(["unknown_event_id"]);
  });
});

describe("the digest in the header", () => {
  test("is compared last, letter by letter", async () => {
    const actual = await digestOf(records);
    const found = async (tape_content_hash: string | null) =>
      [...(await verdictOn([{ event_id: 9n }], { tape_content_hash })).findings].slice(1);
    expect(await found(null)).toEqual([]);
    expect(await found(actual)).toEqual([]);
    for (const expected of ["", actual.toUpperCase()]) {
      expect(await found(expected)).toEqual([{ problem: { code: "tape_digest_mismatch", expected, actual }, line: 1 }]);
    }
  });
});

describe("the report", () => {
  const reportOn = async (rows: Partial<Row>[]) => [...printReport(await verdictOn(rows))].join("");

  test("has empty containers on one line", async () => {
    expect(await reportOn([])).toBe('{\n  "annotations_checked": 0,\n  "problems": [],\n  "kind_counts": {}\n}');
  });

  test("has exact numbers, escapes, and kinds by name", async () => {
    const rows: Partial<Row>[] = [
      { kind: "note", event_id: MOST, id: '"\u0001é\u2028' },
      { kind: "friction", friction_kind: "a\nb" },
      { kind: "note" },
    ];
    expect(await reportOn(rows)).toBe(`{
  "annotations_checked": 3,
  "problems": [
    {
      "code": "unknown_event_id",
      "annotation_id": "\\"\\u0001é\u2028",
      "event_id": 18446744073709551615
    },
    {
      "code": "friction_kind_unknown",
      "annotation_id": "ann@event_0",
      "friction_kind": "a\\nb"
    }
  ],
  "kind_counts": {
    "friction": 1,
    "note": 2
  }
}`);
  });

  test("holds any number of problems in their order", async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ event_id: BigInt(i) + 2n ** 60n }));
    const { findings } = await verdictOn(rows);
    expect(findings.length).toBe(1000);
    expect([...findings].map(({ line }) => line)).toEqual(rows.map((_, i) => i + 2));
    expect([...findings].at(-1)?.problem).toMatchObject({ event_id: 2n ** 60n + 999n });
  });
});

/** `FUZZ_FILES=200000 FUZZ_SEED=1 npx vitest run src/formats/tapes/validate/validate-both-ways.test.ts` takes its time. */
const FILES = Number(process.env["FUZZ_FILES"] ?? 600);
const FIRST_SEED = Number(process.env["FUZZ_SEED"] ?? 1);

describe("a sidecar that is validated by skimming", () => {
  test("has the outcome of reading every line exactly, whatever it holds", { timeout: 0 }, async () => {
    const counts: Record<string, number> = {};
    for (let seed = FIRST_SEED; seed < FIRST_SEED + FILES; seed++) {
      const random = randomFrom(seed);
      const tape = randomTape(random);
      const facts = await factsOf(tape.records);
      const text = bytesOf(randomSidecarText(random, tape));
      const file = random() < 0.3 ? mutated(text, random) : text;
      const pieces = inPieces(file, random, random() < 0.3 ? 3 : 4000);
      const expected = await exactly([file], facts);
      expect(await quickly(pieces, facts, random() < 0.7), `seed ${seed}`).toEqual(expected);
      const result = resultOf(expected);
      counts[result] = (counts[result] ?? 0) + 1;
    }
    if (process.env["FUZZ_FILES"] !== undefined)
      console.log(`seeds ${FIRST_SEED} to ${FIRST_SEED + FILES - 1}`, counts);
    // What never occurs has not been compared.
    for (const result of ["problems", "none", "record_parse", "second_header", "header_parse", "header_missing"]) {
      expect(counts[result], result).toBeGreaterThan(FILES / 300);
    }
    expect(counts["read_failed"]).toBeGreaterThan(0);
  });
});

function resultOf(outcome: Outcome): string {
  if ("code" in outcome) return outcome.code;
  return outcome.lines.length > 0 ? "problems" : "none";
}

const HEADER = '{"type":"header","schema_version":1}\n';
const facts = await factsOf([0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n].map((seq) => aRecord({ seq })));

function row(members: string): string {
  return `{"type":"annotation","event_id":0,"kind":"note"${members === "" ? "" : ","}${members}}`;
}

function nested(depth: number): string {
  return row(`"metadata":${'{"a":'.repeat(depth - 2)}{}${"}".repeat(depth - 2)}`);
}

describe("a line on which readers of JSON disagree", () => {
  const fine = { lines: [] };
  const refused = { code: "record_parse", place: { line: 3 } };
  test.each<[string, string, object]>([
    ["a repeated known name", row('"id":"a","id":"a"'), refused],
    ["a repeated known name in disguise", row('"id":"a","\\u0069d":"a"'), refused],
    ["a repeated unknown name", row('"x":1,"x":2'), fine],
    ["a repeated name in the author", row('"author":{"kind":"human","kind":"human"}'), refused],
    ["a repeated unknown name in the author", row('"author":{"kind":"human","x":1,"x":2}'), fine],
    ["a repeated name in metadata", row('"metadata":{"a":1,"a":2}'), fine],
    ["null for what is optional", row('"evidence":null,"author":null,"span":null,"friction_kind":null'), fine],
    ["null for links", row('"links":null'), refused],
    ["null for metadata", row('"metadata":null'), refused],
    ["null for the id", row('"id":null'), refused],
    ["a fraction as event", '{"type":"annotation","event_id":1.0,"kind":"note"}', refused],
    ["an exponent as event", '{"type":"annotation","event_id":1e0,"kind":"note"}', refused],
    ["minus zero as event", '{"type":"annotation","event_id":-0,"kind":"note"}', refused],
    ["a zero before the event", '{"type":"annotation","event_id":01,"kind":"note"}', refused],
    ["a zero before a number in metadata", row('"metadata":{"a":01}'), refused],
    ["a zero before a negative number", row('"metadata":{"a":-01}'), refused],
    ["an event beyond doubles", '{"type":"annotation","event_id":9007199254740993,"kind":"note"}', fine],
    ["its neighbour", '{"type":"annotation","event_id":9007199254740992,"kind":"note"}', { lines: [3] }],
    ["the greatest event", '{"type":"annotation","event_id":18446744073709551615,"kind":"note"}', fine],
    ["one more", '{"type":"annotation","event_id":18446744073709551616,"kind":"note"}', refused],
    ["a number that overflows in metadata", row('"metadata":{"a":1e400}'), refused],
    ["a number that overflows under an unknown name", row('"x":[1e400]'), refused],
    ["a number that overflows by its digits", row(`"x":${"9".repeat(400)}`), refused],
    ["a pair of surrogates", row('"evidence":"\\ud83d\\ude00"'), fine],
    ["half a pair", row('"evidence":"\\ud83d"'), refused],
    ["the second halves of two pairs", row('"evidence":"\\udc00\\udc00"'), refused],
    ["half a pair in a name nobody knows", row('"\\udc00":1'), refused],
    ["half a pair in metadata", row('"metadata":{"a":"\\udc00"}'), refused],
    ["a raw control character", row('"evidence":"\u0001"'), refused],
    ["the last of them", row('"evidence":"\u001f"'), refused],
    ["a raw tab", row('"evidence":"\t"'), refused],
    ["a raw carriage return", row('"evidence":"\r"'), refused],
    ["a character that only looks like one", row('"evidence":"\u007f\u0080"'), fine],
    ["127 open brackets", nested(127), fine],
    ["128 open brackets", nested(128), refused],
    ["127 with lists", row(`"x":${"[".repeat(126)}${"]".repeat(126)}`), fine],
    ["128 with lists", row(`"x":${"[".repeat(127)}${"]".repeat(127)}`), refused],
    ["a byte-order mark", `\ufeff${row("")}`, refused],
    ["space of all sorts around it", `\u0085\u2028 \u00a0${row("")}\u3000\u000b`, fine],
    ["a comment after space", "\u2028 # }", fine],
    ["a comment after a byte-order mark", "\ufeff# }", refused],
    ["names in another order", '{"kind":"note","event_id":1,"type":"annotation"}', fine],
    ["a name that every object has", row('"__proto__":{"id":"a"},"constructor":1'), fine],
    ["a name with an escape", '{"type":"annotation","\\u0065vent_id":0,"kind":"note"}', fine],
    ["an array for the row", '["annotation","a",0,"note"]', refused],
    ["an array for the author", row('"author":[null,"human",null]'), refused],
    ["an object for a word", row('"hypothesis_status":{"active":null}'), refused],
    ["an object for the kind", '{"type":"annotation","event_id":0,"kind":{"note":null}}', refused],
    ["a comma too many", row('"links":[],').replace(",}", ",}"), refused],
    ["two values", `${row("")} ${row("")}`, refused],
    ["a carriage return inside", row('\r"id":"a"'), fine],
    ["a long line", row(`"evidence":"${"é".repeat(100_000)}"`), fine],
  ])("%s", async (_, line, expected) => {
    const file = bytesOf(`${HEADER}\n${line}\r\n`);
    const outcome = await exactly([file], facts);
    expect(outcome).toMatchObject(expected);
    for (const size of file.length < 1000 ? [1, 2, 3, 7, file.length] : [5000]) {
      expect(await quickly(cut(file, size), facts, size !== 3)).toEqual(outcome);
    }
  });
});

function cut(file: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(file.length / size) }, (_, i) => file.slice(i * size, (i + 1) * size));
}

describe("bytes that are no UTF-8", () => {
  const broken = [0xff, 0xc3, 0xed];

  test("make the whole file unreadable, also behind a line that is wrong", async () => {
    for (const byte of broken) {
      const file = Uint8Array.from([...bytesOf(`${HEADER}{"wrong"\n# `), byte, ...bytesOf(`\n${row("")}\n`)]);
      const message = "load annotations s.jsonl: read s.jsonl: stream did not contain valid UTF-8";
      for (const size of [1, 5, file.length]) {
        for (const isNative of [true, false]) {
          const outcome = await quickly(cut(file, size), facts, isNative);
          expect(outcome).toEqual({ code: "read_failed", message, place: {} });
        }
      }
    }
  });

  test("are also a character that the file ends in", async () => {
    const file = Uint8Array.from([...bytesOf(`${HEADER}# `), 0xf0, 0x9f, 0x98]);
    expect(await quickly([file], facts)).toMatchObject({ code: "read_failed" });
    expect(await exactly([file], facts)).toMatchObject({ code: "read_failed" });
  });
});

describe("a file that stops arriving", () => {
  test("is unreadable, for the reason it was given", async () => {
    async function* pieces() {
      yield bytesOf(HEADER);
      throw new Error("the disk is gone");
    }
    const message = "load annotations s.jsonl: read s.jsonl: the disk is gone";
    expect(await quickly(pieces(), facts)).toEqual({ code: "read_failed", message, place: {} });
  });
});
