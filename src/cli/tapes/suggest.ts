import { randomBytes } from "node:crypto";
import { type FrictionEvent, frictionOf } from "../../formats/tapes/export.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import type { Row } from "../../formats/tapes/sidecar/sidecar.ts";
import type {
  CandidateManifest,
  IncludedDoc,
  IncludedQuery,
  RecommendedArtifact,
} from "../../formats/tapes/suggest/context-pack.ts";
import {
  type ContextPackSuggestion,
  generateContextPackSuggestions,
  printSuggestions,
} from "../../formats/tapes/suggest/suggest.ts";
import { formatCount } from "../output/amount.ts";
import { labelled } from "../output/describe-record.ts";
import type { Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { firstLines } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_SUGGEST_FLAGS } from "./compare-commands.ts";
import { loadEach, sidecarFiles, tapeOf } from "./files/find-files.ts";
import { watchedBytes } from "./files/tape-files.ts";

const MIN_OCCURRENCES = 2;

export async function tapeSuggest({ args, flags, json, io }: Call<typeof TAPE_SUGGEST_FLAGS>): Promise<number> {
  const [path = ""] = args;
  const { paths, many } = await sidecarFiles(path);
  const now = new Date();
  const events: FrictionEvent[] = [];
  const skipped = await loadEach(paths, { skipBroken: flags.skipBroken, io }, async (file) => {
    const rows: Row[] = [];
    const header = await readSidecar(file, watchedBytes(file, io), (row) => {
      if (row.kind === "friction") rows.push(row);
    });
    // Among many files, each row needs the path of its tape, also when the header has none.
    const tapePath = header.tape_path ?? (many ? tapeOf(file) : null);
    for (const row of rows) {
      const event = frictionOf(row, { tapePath, now });
      if (event !== undefined) events.push(event);
    }
  });
  const minOccurrences = Math.max(flags.minOccurrences ?? MIN_OCCURRENCES, MIN_OCCURRENCES);
  const suggestions = generateContextPackSuggestions(events, {
    minOccurrences,
    owner: flags.owner ?? null,
    newId: () => uuidV7(now.getTime()),
    now: now.toISOString(),
    acrossSources: many,
  });
  if (json) io.out(printSuggestions(suggestions));
  else if (suggestions.length > 0) io.out(suggestions.map((one, i) => suggestionText(one, i, io.paint)).join("\n\n"));
  else {
    const rows = formatCount(events.length, "friction row");
    io.out(`Nothing to suggest: ${rows} in ${printable(path)}, none of them ${minOccurrences} times.`);
  }
  return skipped.length === 0 ? EXIT.fine : EXIT.invalid;
}

const EVIDENCE_SHOWN = 5;
const TEXT_MAX = 100;

/** A suggestion as text: its title, its content, the evidence and the next step. */
function suggestionText(suggestion: ContextPackSuggestion, index: number, paint: Paint): string {
  const { title, confidence, candidate_manifest: manifest, evidence, recommended_artifact } = suggestion;
  const met = `met ${evidence.length} times as ${evidence[0]?.kind}, confidence ${confidence}`;
  const next = `${NEXT[recommended_artifact]}; for ${shown(manifest.owner)} to review (--json has the draft)`;
  return [
    `${index + 1}. ${paint.bold(shown(title))}`,
    `   ${met}`,
    ...labelled("holds", heldBy(manifest), paint),
    ...labelled("evidence", evidenceOf(suggestion), paint),
    ...labelled("next", [next], paint),
  ].join("\n");
}

const NEXT: Readonly<Record<RecommendedArtifact, string>> = {
  context_pack: "have this ready before the work starts",
  workflow: "make the steps a workflow, so that no question is needed",
  both: "make it a workflow, and have this ready before it starts",
};

function heldBy(manifest: CandidateManifest): string[] {
  const { included_queries, included_docs, included_tools, capabilities, secrets, output_slots } = manifest;
  // Several events may state the same.
  const lines = [
    ...included_queries.map(queryText),
    ...included_docs.map(docText),
    ...included_tools.map(({ name }) => `tool ${shown(name)}`),
    ...capabilities.map((name) => `capability ${shown(name)}`),
    ...secrets.map(({ name }) => `secret ${shown(name)}, by name only`),
    `slot ${output_slots.map(({ name }) => shown(name)).join(", ")}`,
  ];
  return [...new Set(lines)];
}

function queryText({ query, provider, filters }: IncludedQuery): string {
  const where = provider === null ? "" : ` (${shown(provider)})`;
  const only = [...filters].map(([name, value]) => `${name}=${String(value)}`).join(", ");
  return `query ${shown(query)}${where}${only === "" ? "" : ` with ${shown(only)}`}`;
}

function docText({ title, url, path }: IncludedDoc): string {
  const place = shown(url ?? path ?? "");
  return title === null ? `document ${place}` : `document ${shown(title)}, ${place}`;
}

function evidenceOf({ evidence, title }: ContextPackSuggestion): readonly string[] {
  const lines = evidence.map(({ event_id, source, redacted_summary }) => {
    // The title names the tape already where all rows come from one.
    const where = source === null || title.startsWith(`${source} `) ? "" : ` in ${shown(source)}`;
    return `${shown(event_id)}${where}: ${shown(redacted_summary)}`;
  });
  return firstLines(lines, EVIDENCE_SHOWN);
}

function shown(text: string): string {
  return shorten(printable(text), TEXT_MAX);
}

/** A UUID of version 7: 48 bits of milliseconds, then random bits, so that they sort by time. */
function uuidV7(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
