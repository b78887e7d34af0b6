import { asFreeForm, compareUtf8, type Plain, printFreeForm } from "../../json/print-json.ts";
import { addTo } from "../../text/collections.ts";
import type { FrictionEvent } from "../export.ts";
import type { FrictionKind } from "../sidecar/sidecar.ts";
import { type CandidateManifest, candidateManifest, type RecommendedArtifact, wordsOf } from "./context-pack.ts";

/** A proposal to have something ready before the work starts, because it was missed again and again. */
export type ContextPackSuggestion = {
  readonly _type: "context_pack_suggestion";
  readonly id: string;
  readonly title: string;
  readonly recommended_artifact: RecommendedArtifact;
  readonly confidence: number;
  readonly candidate_manifest: CandidateManifest;
  readonly evidence: readonly SuggestionEvidence[];
  readonly examples: readonly string[];
  readonly estimated_savings: {
    readonly occurrences: bigint;
    readonly estimated_time_saved_ms: bigint;
    readonly estimated_cost_saved_usd: number;
  };
  readonly risk_privacy_notes: readonly string[];
  readonly source_event_ids: readonly string[];
  readonly created_at: string;
  readonly metadata: Readonly<Record<string, never>>;
};

export type SuggestionEvidence = {
  readonly event_id: string;
  readonly kind: FrictionKind;
  readonly source: string | null;
  readonly tool: string | null;
  readonly provider: string | null;
  readonly redacted_summary: string;
  readonly run_id: string | null;
  readonly trace_id: string | null;
  readonly estimated_cost_usd: number | null;
  readonly estimated_time_ms: bigint | null;
};

export interface SuggestOptions {
  readonly minOccurrences: number;
  readonly owner: string | null;
  /** A new UUID of version 7. */
  readonly newId: () => string;
  /** RFC 3339, in UTC. */
  readonly now: string;
  /**
   * Whether the same friction from different sources is one: events then meet whatever their source is, and a suggestion has a source
   * only where all of its events share it.
   */
  readonly acrossSources?: boolean;
}

/** Friction that occurred once is not repeated. */
const OCCURRENCES_MIN = 2;
const WORDS_IN_TOPIC = 6;
const EXAMPLES_MAX = 3;

/** One suggestion per group of alike events, in the order of the groups' keys. */
export function generateContextPackSuggestions(
  events: Iterable<FrictionEvent>,
  options: SuggestOptions,
): ContextPackSuggestion[] {
  const groups = new Map<string, FrictionEvent[]>();
  for (const event of events) addTo(groups, groupKey(event, options.acrossSources === true), event);
  const fewest = Math.max(options.minOccurrences, OCCURRENCES_MIN);
  return [...groups]
    .filter(([, group]) => group.length >= fewest)
    .sort(([a], [b]) => compareUtf8(a, b))
    .map(([, group]) => suggestionOf(group.sort(byTime), options));
}

/** Members sorted by their bytes, whole numbers as such, confidence and costs as floats. */
export function printSuggestions(suggestions: readonly ContextPackSuggestion[]): string {
  return printFreeForm(asFreeForm(suggestions as readonly Plain[]));
}

function groupKey({ kind, source, tool, provider, ...event }: FrictionEvent, acrossSources: boolean): string {
  const hint = event.recurrence_hints[0] ?? wordsOf(event.redacted_summary).join(" ");
  return [kind, acrossSources ? "" : (source ?? ""), tool ?? "", provider ?? "", hint].join("|");
}

function byTime(a: FrictionEvent, b: FrictionEvent): number {
  return compareUtf8(a.timestamp, b.timestamp) || compareUtf8(a.id, b.id);
}

function suggestionOf(events: readonly FrictionEvent[], options: SuggestOptions): ContextPackSuggestion {
  const [first, ...others] = events as [FrictionEvent, ...FrictionEvent[]];
  const source = others.every((event) => event.source === first.source) ? first.source : null;
  const topic = first.recurrence_hints[0] ?? wordsOf(first.redacted_summary).slice(0, WORDS_IN_TOPIC).join(" ");
  const title = `${source ?? "team"} ${topic} context pack`;
  const recommended = RECOMMENDED[first.kind] ?? "context_pack";
  return {
    _type: "context_pack_suggestion",
    id: `context_pack_suggestion_${options.newId()}`,
    title,
    recommended_artifact: recommended,
    confidence: confidenceOf(events.length),
    candidate_manifest: candidateManifest(events, { title, source, owner: options.owner, recommended }),
    evidence: events.map(evidenceOf),
    examples: [...new Set(events.map((event) => event.redacted_summary))].sort(compareUtf8).slice(0, EXAMPLES_MAX),
    estimated_savings: {
      occurrences: BigInt(events.length),
      // The first occurrence is the cost; the pack saves the later ones.
      estimated_time_saved_ms: others.reduce((sum, event) => sum + (event.estimated_time_ms ?? 0n), 0n),
      estimated_cost_saved_usd: others.reduce((sum, event) => sum + (event.estimated_cost_usd ?? 0), 0),
    },
    risk_privacy_notes: [
      "The evidence holds what people wrote about the events, not the events themselves.",
      "Review queries, documents and summaries for private details before the pack is used.",
    ],
    source_event_ids: events.map(({ id }) => id),
    created_at: options.now,
    metadata: {},
  };
}

const RECOMMENDED: Readonly<Partial<Record<FrictionKind, RecommendedArtifact>>> = {
  approval_stall: "workflow",
  manual_handoff: "workflow",
  tool_gap: "both",
  failed_assumption: "both",
  expensive_model_used_for_deterministic_step: "both",
};

/** By how often it was met, from twice on. */
const CONFIDENCES = [0.62, 0.74, 0.82, 0.9] as const;

function confidenceOf(occurrences: number): number {
  return CONFIDENCES[Math.min(occurrences - OCCURRENCES_MIN, CONFIDENCES.length - 1)] as number;
}

function evidenceOf(event: FrictionEvent): SuggestionEvidence {
  const { id, kind, source, tool, provider, redacted_summary, run_id, trace_id } = event;
  const { estimated_cost_usd, estimated_time_ms } = event;
  return {
    event_id: id,
    kind,
    source,
    tool,
    provider,
    redacted_summary,
    run_id,
    trace_id,
    estimated_cost_usd,
    estimated_time_ms,
  };
}
