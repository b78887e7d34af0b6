import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Signal } from "../../../protocol/judgments/annotation.ts";
import { readJson } from "../../json/exact-json.ts";
import { type Judged, judgmentOfRow, LABELS, rowOfAnnotation, signalOfRow } from "./judgment-rows.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, printRow, ROW_KINDS, type Row, readSidecarLine } from "./sidecar.ts";

function row(more: Partial<Row> = {}): Row {
  const line = readSidecarLine(readJson('{"type":"annotation","event_id":0,"kind":"note"}'));
  return { ...(line as { row: Row }).row, ...more };
}

const JUDGED: Judged = {
  annotationId: "ann-1",
  signal: { kind: "flag" },
  target: {},
  actor: "ada",
  actorKind: "person",
  createdAtMs: 0,
};

function there(judged: Partial<Judged>) {
  const made = rowOfAnnotation({ ...JUDGED, ...judged }, { eventId: 5n, isTarget: true });
  const read = readSidecarLine(readJson(printRow(made)));
  return (read as { row: Row }).row;
}

describe("a judgment as a row", () => {
  const signals: readonly Signal[] = [
    ...[1, 2, 3, 4, 5].map((rating): Signal => ({ kind: "rating", rating })),
    { kind: "rating", rating: 2, label: "slow", correction: "faster" },
    { kind: "flag" },
    { kind: "flag", label: "unsafe" },
    { kind: "correction", correction: "" },
    { kind: "correction", correction: "say hello" },
    { kind: "correction", correction: '{"a":1}', label: "x" },
    ...[
      "pass",
      "fail",
      "anything",
      "unknown",
      "hypothesis",
      "friction",
      "hypothesis:never",
      "friction:x",
      "alternative",
    ].map((label): Signal => ({ kind: "label", label })),
    ...ROW_KINDS.map((kind): Signal => ({ kind: "label", label: LABELS[kind], correction: "fix" })),
    ...HYPOTHESIS_STATUSES.map((status): Signal => ({ kind: "label", label: `hypothesis:${status}` })),
    ...FRICTION_KINDS.map((kind): Signal => ({ kind: "label", label: `friction:${kind}` })),
  ];

  test.each(signals)("is the same judgment when the row is read: %j", (signal) => {
    const made = there({ signal, note: "why", confidence: 0.25, actorKind: "agent" });
    expect(judgmentOfRow(made)).toEqual({ signal, note: "why", confidence: 0.25 });
    expect(made.author).toEqual({ id: "ada", kind: "agent", surface: "assay" });
  });

  test.each(signals)("has a kind that validation takes: %j", (signal) => {
    const { kind, hypothesis_status, friction_kind } = there({ signal });
    expect(ROW_KINDS).toContain(kind);
    expect(hypothesis_status !== null).toBe(kind === "hypothesis");
    expect(friction_kind !== null).toBe(kind === "friction");
  });

  test("is not what it was once somebody made another thing of the row", () => {
    const rated = there({ signal: { kind: "rating", rating: 5 } });
    expect(judgmentOfRow({ ...rated, kind: "incorrect" }).signal).toEqual({ kind: "label", label: "fail" });
    expect(judgmentOfRow({ ...rated, suggested_fix: "x" }).signal).toMatchObject({ label: "note", correction: "x" });
  });

  test("takes nothing from metadata that is no judgment", () => {
    for (const assay of [
      '"x"',
      "null",
      "[1]",
      '{"signal":{"kind":"rating","rating":9}}',
      '{"target":{"runId":"r"},"confidence":"1"}',
    ]) {
      const line = `{"type":"annotation","event_id":0,"kind":"note","metadata":{"assay":${assay}}}`;
      const read = readSidecarLine(readJson(line)) as { row: Row };
      expect(judgmentOfRow(read.row)).toEqual({ signal: { kind: "label", label: "note" } });
    }
  });
});

describe("a row as a judgment", () => {
  test("has a label by its kind, and by what belongs to the kind", () => {
    expect(signalOfRow(row({ kind: "friction", friction_kind: "something else" }))).toEqual({
      kind: "label",
      label: "friction",
    });
    expect(signalOfRow(row({ kind: "hypothesis" }))).toEqual({ kind: "label", label: "hypothesis" });
    expect(signalOfRow(row({ kind: "note", hypothesis_status: "active" }))).toEqual({ kind: "label", label: "note" });
  });

  test("is documented, kind by kind", () => {
    const docs = readFileSync(new URL("../../../../docs/tapes.md", import.meta.url), "utf8");
    for (const [kind, label] of Object.entries(LABELS)) {
      expect(docs).toMatch(new RegExp(`^\\| \`${kind}\` \\|.*\`${label}`, "m"));
    }
  });
});
