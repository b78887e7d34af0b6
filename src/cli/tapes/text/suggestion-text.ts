import type {
  CandidateManifest,
  IncludedDoc,
  IncludedQuery,
  RecommendedArtifact,
} from "../../../formats/tapes/suggest/context-pack.ts";
import type { ContextPackSuggestion } from "../../../formats/tapes/suggest/suggest.ts";
import type { Paint } from "../../output/io.ts";
import { printable, shorten } from "../../output/printable.ts";
import { labelled } from "./labelled.ts";

const EVIDENCE_SHOWN = 5;
const TEXT_MAX = 100;

/** What is proposed, why, and what to do about it. */
export function suggestionText(suggestion: ContextPackSuggestion, index: number, paint: Paint): string {
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
  workflow: "make the steps a workflow, so that nobody has to ask",
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

function evidenceOf({ evidence, title }: ContextPackSuggestion): string[] {
  const lines = evidence.slice(0, EVIDENCE_SHOWN).map(({ event_id, source, redacted_summary }) => {
    // The title says it already where all come from one tape.
    const where = source === null || title.startsWith(`${source} `) ? "" : ` in ${shown(source)}`;
    return `${shown(event_id)}${where}: ${shown(redacted_summary)}`;
  });
  const more = evidence.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

function shown(text: string): string {
  return shorten(printable(text), TEXT_MAX);
}
