import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import { readJson, Unreadable } from "../../json/exact-json.ts";
import {
  type Anchor,
  anchorOf,
  FRICTION_KINDS,
  nameOfRow,
  printAnchor,
  printExportedRow,
  printRow,
  printSidecarHeader,
  ROW_KINDS,
  readSidecarLine,
} from "./sidecar.ts";

const header = { type: "header", schema_version: 1, tape_path: "p", tape_content_hash: "h", harn_version: "v" };
/** With every member, in the order in which they are written. */
const row = {
  type: "annotation",
  id: "a",
  event_id: 1,
  kind: "note",
  evidence: "e",
  suggested_fix: { a: [1] },
  author: { id: "i", kind: "human", surface: "s" },
  timestamp: "t",
  span: { start_event_id: 1, end_event_id: 2 },
  hypothesis_status: "active",
  friction_kind: "f",
  links: [{ label: "l", url: "u", reference: "r" }],
  metadata: { m: 1 },
};
const BARE = { type: "annotation", event_id: 1, kind: "note" };
const WRITTEN_BARE =
  '{"type":"annotation","id":"","event_id":1,"kind":"note","evidence":null,"suggested_fix":null,"author":null,"timestamp":null,' +
  '"span":null,"hypothesis_status":null,"friction_kind":null,"links":[],"metadata":{}}';

function rewritten(line: string | object): string {
  const read = readSidecarLine(readJson(typeof line === "string" ? line : JSON.stringify(line)));
  return read.type === "header" ? printSidecarHeader(read.header) : printRow(read.row);
}

describe("a row", () => {
  test("is written with every member in order, in whatever order and with whatever else it was read", () => {
    expect(rewritten(row)).toBe(JSON.stringify(row));
    expect(rewritten({ x: [], ...backwards(row) })).toBe(JSON.stringify(row));
    expect(rewritten(BARE)).toBe(WRITTEN_BARE);
  });

  test.each(["evidence", "suggested_fix", "author", "timestamp", "span", "hypothesis_status", "friction_kind"])(
    "may have no `%s`, and then has null",
    (name) => {
      for (const none of [null, undefined]) expect(rewritten({ ...row, [name]: none })).toContain(`"${name}":null`);
    },
  );

  test.each([
    ["id", '"id":""'],
    ["links", '"links":[]'],
    ["metadata", '"metadata":{}'],
  ])("may leave out `%s` but not have null there", (name, written) => {
    expect(rewritten({ ...row, [name]: undefined })).toContain(written);
    expect(() => rewritten({ ...row, [name]: null })).toThrow(Unreadable);
  });

  test.each([
    { event_id: undefined },
    { event_id: null },
    { event_id: "1" },
    { kind: undefined },
    { kind: null },
    { kind: 1 },
    { kind: { note: null } },
    { id: 1 },
    { evidence: 1 },
    { timestamp: 1 },
    { friction_kind: 1 },
    { author: {} },
    { author: "i" },
    { author: { kind: "robot" } },
    { author: { kind: null } },
    { author: { kind: "human", id: 1 } },
    { span: {} },
    { span: { start_event_id: 1 } },
    { span: { end_event_id: 1 } },
    { span: [1, 2] },
    { hypothesis_status: "Active" },
    { hypothesis_status: "" },
    { links: [null] },
    { links: {} },
    { links: [{ url: 1 }] },
    { metadata: [] },
    { metadata: "m" },
  ])("is refused with %j", (over) => {
    expect(() => rewritten({ ...row, ...over })).toThrow(Unreadable);
  });

  test("may not repeat what is known at that level, and may repeat anything else", () => {
    for (const [name, value] of Object.entries(row))
      expect(() => rewritten(twice(row, name, value)), name).toThrow("twice");
    const inside = (name: string, text: string) => JSON.stringify({ ...row, [name]: "@" }).replace('"@"', text);
    for (const text of [
      inside("author", '{"kind":"human","kind":"human"}'),
      inside("author", '{"kind":"human","id":null,"id":null}'),
      inside("span", '{"start_event_id":1,"start_event_id":1,"end_event_id":1}'),
      inside("links", '[{"url":"a","url":"a"}]'),
    ]) {
      expect(() => rewritten(text), text).toThrow("twice");
    }
    expect(rewritten(`{"seq":1,"seq":2,${JSON.stringify(BARE).slice(1)}`)).toBe(WRITTEN_BARE);
    expect(rewritten(inside("links", '[{"x":1,"x":2}]'))).toContain('[{"label":null,"url":null,"reference":null}]');
    expect(rewritten(inside("metadata", '{"b":1,"a":1,"b":2}'))).toContain('"metadata":{"a":1,"b":2}');
    expect(rewritten(inside("suggested_fix", '{"x":{"y":1,"y":2},"x":3}'))).toContain('"suggested_fix":{"x":3}');
  });

  test.each(["0", "18446744073709551615"])("may be about the event %s", (number) => {
    expect(rewritten(withNumber("event_id", number))).toBe(withNumber("event_id", number));
    expect(rewritten(withNumber("start_event_id", number))).toBe(withNumber("start_event_id", number));
    expect(rewritten(withNumber("end_event_id", number))).toBe(withNumber("end_event_id", number));
  });

  test.each(["-1", "18446744073709551616", "1.0", "1e0", "-0"])("is not about the event %s", (number) => {
    for (const name of ["event_id", "start_event_id", "end_event_id"]) {
      expect(() => rewritten(withNumber(name, number)), name).toThrow(Unreadable);
    }
  });

  test("has one of nine kinds, or an unknown one whose word is lost", () => {
    expect(ROW_KINDS).toHaveLength(9);
    for (const kind of ROW_KINDS) expect(rewritten({ ...BARE, kind })).toContain(`"kind":"${kind}"`);
    for (const kind of ["Note", "", "note ", "unknown", "new", "toString", "__proto__"]) {
      expect(rewritten({ ...BARE, kind })).toContain('"kind":"unknown"');
    }
  });

  test("may have any words where a list is not closed", () => {
    expect(FRICTION_KINDS).toHaveLength(9);
    const words = { friction_kind: "", timestamp: "yesterday", author: { kind: "agent", surface: "" } };
    expect(rewritten({ ...row, ...words })).toContain('"timestamp":"yesterday"');
  });

  test("has values of its author's as they are, with names sorted and numbers as they were meant", () => {
    const line = `{"type":"annotation","event_id":1,"kind":"note","metadata":{"b":1.0,"a":9007199254740993,"__proto__":1e3},"suggested_fix":false}`;
    expect(rewritten(line)).toContain('"metadata":{"__proto__":1000.0,"a":9007199254740993,"b":1.0}');
    expect(rewritten(line)).toContain('"suggested_fix":false');
  });

  test("is named by its id, and by its event when it has none", () => {
    expect(nameOfRow({ id: "a", event_id: 1n })).toBe("a");
    expect(nameOfRow({ id: "", event_id: 2n ** 64n - 1n })).toBe("ann@event_18446744073709551615");
  });

  test("is exported without its type", () => {
    const read = readSidecarLine(readJson(JSON.stringify(row)));
    if (read.type !== "annotation") throw new Error("it is a row");
    expect(printExportedRow(read.row)).toBe(JSON.stringify({ ...row, type: undefined }));
  });
});

describe("a header", () => {
  test("is written with every member in order", () => {
    expect(rewritten(backwards(header))).toBe(JSON.stringify(header));
    expect(rewritten({ type: "header", schema_version: 0 })).toBe(
      '{"type":"header","schema_version":0,"tape_path":null,"tape_content_hash":null,"harn_version":null}',
    );
  });

  test("may not repeat what is known, and may repeat anything else", () => {
    for (const [name, value] of Object.entries(header))
      expect(() => rewritten(twice(header, name, value))).toThrow("twice");
    expect(rewritten(`{"id":1,"id":1,${JSON.stringify(header).slice(1)}`)).toBe(JSON.stringify(header));
  });

  test.each(["-1", "4294967296", "1.0", "1e0", "-0", '"1"', "null"])("is not of version %s", (version) => {
    expect(() => rewritten(`{"type":"header","schema_version":${version}}`)).toThrow(Unreadable);
  });

  test.each([{ tape_path: 1 }, { tape_content_hash: {} }, { harn_version: [] }, { schema_version: undefined }])(
    "is refused with %j",
    (over) => {
      expect(() => rewritten({ ...header, ...over })).toThrow(Unreadable);
    },
  );
});

describe("a line", () => {
  test.each([
    "{}",
    '{"type":null}',
    '{"type":"record"}',
    '{"type":"Annotation"}',
    '["annotation","a",1]',
    '"header"',
    "1",
  ])("that is neither header nor annotation is refused: %s", (line) => {
    expect(() => rewritten(line)).toThrow(Unreadable);
  });
});

function backwards(value: object): object {
  return Object.fromEntries(Object.entries(value).reverse());
}

function twice(value: object, name: string, again: unknown): string {
  return `${JSON.stringify(value).slice(0, -1)},${JSON.stringify({ [name]: again }).slice(1)}`;
}

/** With a number that JavaScript may have none for. */
function withNumber(name: string, number: string): string {
  return JSON.stringify(row).replace(new RegExp(`("${name}":)\\d`), `$1${number}`);
}

const far = 2n ** 64n - 1n;

describe("an anchor", () => {
  test("ends where the span of its row ends, also when that is before it begins", () => {
    const span = { start_event_id: 0n, end_event_id: 1n };
    expect(anchorOf(aRow({ kind: "crystallize_here", event_id: 2n, span }))).toMatchObject({
      event_id: 2n,
      end_event_id: 1n,
    });
  });

  test("is its event alone without a span", () => {
    expect(anchorOf(aRow({ kind: "crystallize_here", event_id: 2n }))?.end_event_id).toBe(2n);
  });

  test("is made of no other kind", () => {
    expect(anchorOf(aRow({ kind: "marker" }))).toBeUndefined();
  });

  test("is printed with all digits of its numbers, and with its file when there are many", () => {
    const row = aRow({ kind: "crystallize_here", event_id: far, metadata: new Map([["n", -(2n ** 63n)]]) });
    const anchor = anchorOf(row) as Anchor;
    const members = `"event_id":${far},"end_event_id":${far},"evidence":null,"author":null,"metadata":{"n":-9223372036854775808}`;
    expect(printAnchor(anchor)).toBe(`{${members}}`);
    expect(printAnchor(anchor, 'a"b')).toBe(`{"file":"a\\"b",${members}}`);
  });
});
