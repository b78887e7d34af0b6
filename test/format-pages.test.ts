import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { digestOf } from "../src/formats/tapes/digest.ts";
import { loadTape } from "../src/formats/tapes/read-tape.ts";
import { loadSidecar } from "../src/formats/tapes/sidecar/read-sidecar.ts";
import type { Row } from "../src/formats/tapes/sidecar/sidecar.ts";
import {
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  printRow,
  printSidecarHeader,
  ROW_KINDS,
} from "../src/formats/tapes/sidecar/sidecar.ts";
import { printHashedRecord, printTapeHeader, printTapeRecord, RECORD_KINDS } from "../src/formats/tapes/tape.ts";
import { printReport } from "../src/formats/tapes/validate/print-findings.ts";
import { PROBLEM_CODES } from "../src/formats/tapes/validate/problems.ts";
import { validate } from "../src/formats/tapes/validate/validate.ts";

const read = (name: string) => readFileSync(new URL(`../docs/formats/${name}`, import.meta.url), "utf8");
const bytesOf = (text: string) => [new TextEncoder().encode(text)];

const tapePage = read("tape.md");
const sidecarPage = read("sidecar.md");

/** The text under a heading, up to the next one of its rank or above. */
function section(page: string, heading: string): string {
  const rank = heading.indexOf(" ");
  const from = page.indexOf(`\n${heading}\n`);
  expect(from, heading).toBeGreaterThan(0);
  const rest = page.slice(from + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${rank}} `, "m"));
  return end < 0 ? rest : rest.slice(0, end);
}

function blocks(text: string): string[] {
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, content = ""]) => content);
}

/** The words in code in the first column of the tables there. */
function rows(text: string): string[] {
  return [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => words(cell));
}

function words(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
}

const namesIn = (line: string) => Object.keys(JSON.parse(line));

const [exampleTape = "", hashed = "", digest = ""] = blocks(section(tapePage, "### An example"));
const tape = await loadTape("example", bytesOf(exampleTape));
const [sidecarText = ""] = blocks(sidecarPage);
const sidecar = await loadSidecar("example", bytesOf(sidecarText));

describe("the page about tapes", () => {
  test("has an example whose digest is the one it gives, over the bytes it gives", async () => {
    expect(tape.records.map((record) => `${printHashedRecord(record)}\n`).join("")).toBe(hashed);
    expect(await digestOf(tape.records)).toBe(digest.trim());
    expect(section(tapePage, "### An example")).toContain(`${new TextEncoder().encode(hashed).length} bytes`);
    expect(section(tapePage, "## The digest")).toContain(await digestOf([]));
  });

  test("names the members of header and events in their order", () => {
    expect(rows(section(tapePage, "## The header"))).toEqual(namesIn(printTapeHeader(tape.header)));
    const [event] = tape.records;
    expect(event && rows(section(tapePage, "## An event"))).toEqual(event && namesIn(printTapeRecord(event)));
  });

  test("names every kind of event with its members", () => {
    const kinds = Object.entries(RECORD_KINDS).map(([kind, members]) => [kind, ...Object.keys(members)]);
    const lines = section(tapePage, "## Kinds of events").match(/^\| `\w+` \|.*$/gm) ?? [];
    const described = lines.map((line) => words(line.replaceAll(/\(.*?\)/g, ""))).filter(([first]) => first !== "kind");
    expect(described).toEqual(kinds);
  });

  test("names what can be wrong with a file", () => {
    expect(rows(section(tapePage, "## Reading a tape"))).toEqual([
      "tape_read_failed",
      "tape_empty",
      "tape_header_parse",
      "tape_header_missing",
      "unsupported_tape_version",
      "tape_record_parse",
      "tape_second_header",
    ]);
  });
});

describe("the page about sidecars", () => {
  test("has an example that comes back byte for byte, for the tape of the other page", async () => {
    const written = [printSidecarHeader(sidecar.header), ...sidecar.rows.map(printRow)];
    expect(sidecarText.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual(written);
    expect((await validate(sidecar, tape)).findings).toHaveLength(0);
  });

  test("names the members of header and annotations in their order", () => {
    expect(rows(section(sidecarPage, "## The header"))).toEqual(namesIn(printSidecarHeader(sidecar.header)));
    expect(rows(section(sidecarPage, "## An annotation"))).toEqual(namesIn(printRow(sidecar.rows[0] as Row)));
  });

  test("names all the words", () => {
    const kinds = section(sidecarPage, "## Kinds");
    expect(rows(kinds).filter((word) => word !== "kind")).toEqual([...ROW_KINDS]);
    expect(words(section(sidecarPage, "### Kinds of friction"))).toEqual([...FRICTION_KINDS]);
    expect([...new Set(words(section(sidecarPage, "### Statuses of a hypothesis")))]).toEqual([...HYPOTHESIS_STATUSES]);
  });

  test("names every problem and every load error", () => {
    expect(rows(section(sidecarPage, "### Problems")).filter((word) => word !== "code")).toEqual([...PROBLEM_CODES]);
    expect(rows(section(sidecarPage, "## Reading a sidecar"))).toEqual([
      "read_failed",
      "empty_file",
      "header_parse",
      "header_missing",
      "unsupported_schema_version",
      "record_parse",
      "second_header",
    ]);
  });

  test("shows a report as it is printed", async () => {
    const [shown = ""] = blocks(section(sidecarPage, "### The report"));
    const note = { ...(sidecar.rows[0] as Row), id: "", event_id: 8n, kind: "note" as const };
    const verdict = await validate({ ...sidecar, rows: [...sidecar.rows, note] }, tape);
    expect(`${[...printReport(verdict)].join("")}\n`).toBe(shown);
  });
});
