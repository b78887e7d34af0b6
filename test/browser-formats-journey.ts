import * as formats from "../src/formats/tapes/tapes.ts";

/** What somebody does with a tape and a sidecar, from bytes to text. The same in Node and in a page, which only passes texts on. */
export async function journey(tapeText: string, sidecarText: string): Promise<Readonly<Record<string, string>>> {
  const tape = await formats.loadTape("run.tape", pieces(tapeText));
  const sidecar = await formats.loadSidecar("notes.jsonl", pieces(sidecarText));
  const facts = await formats.readTapeFacts("run.tape", pieces(tapeText));
  const verdict = await formats.validateSidecar("notes.jsonl", pieces(sidecarText), facts);
  const comparison = await formats.compareTapes("byte_identical", file(tapeText), file(tapeText));
  const friction = { tapePath: sidecar.header.tape_path, now: new Date(0) };
  const frictions = sidecar.rows.flatMap((row) => formats.frictionOf(row, friction) ?? []);
  const suggestOptions = { minOccurrences: 2, owner: null, now: "1970-01-01T00:00:00Z", newId: () => "id" };
  const exported = (format: formats.ExportFormat) =>
    sidecar.rows.map((row) => formats.exportedLine(row, format, friction) ?? "").join("\n");
  return {
    digest: await formats.digestOf(tape.records),
    factsDigest: facts.digest,
    tape: [...formats.tapeLines(tape)].join(""),
    sidecar: [...formats.sidecarLines(sidecar)].join(""),
    report: [...formats.printReport(verdict)].join(""),
    rows: exported("jsonl"),
    frictions: exported("friction"),
    anchors: sidecar.rows
      .flatMap((row) => formats.anchorOf(row) ?? [])
      .map((anchor) => formats.printAnchor(anchor))
      .join(),
    suggestions: formats.printSuggestions(formats.generateContextPackSuggestions(frictions, suggestOptions)),
    block: [...formats.blockLines(blockOf(tape, sidecar))].join("\n"),
    comparison: [...formats.printComparison(comparison)].join(""),
    refusal: await refusalOf(`${sidecarText}{`),
  };
}

function blockOf({ records }: formats.Tape, { rows }: formats.Sidecar): formats.RunBlock {
  const byEvent = new Map<bigint, formats.ShownRow[]>();
  for (const row of rows) formats.addTo(byEvent, row.event_id, formats.shownRow(row));
  return { path: "notes.jsonl", annotations: rows.length, events: records.map(formats.shownEvent), rows: byEvent };
}

async function refusalOf(text: string): Promise<string> {
  const error = await formats.loadSidecar("notes.jsonl", pieces(text)).catch((thrown) => thrown);
  return error instanceof formats.FileError ? JSON.stringify([error.code, error.message, error.place]) : String(error);
}

function file(text: string): formats.TapeFile {
  return { path: "run.tape", bytes: pieces(text) };
}

/** Small enough to end inside of characters. */
function* pieces(text: string): Generator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
}
