import { compareUtf8, type FreeForm, type FreeMap } from "../../json/print-json.ts";
import { trimSpace } from "../../text/lines.ts";
import type { FrictionEvent } from "../export.ts";
import type { FrictionKind } from "../sidecar/sidecar.ts";

export type RecommendedArtifact = "context_pack" | "workflow" | "both";

/** What a context pack would hold. Names are those of the format. */
export type CandidateManifest = {
  readonly version: bigint;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly owner: string;
  readonly triggers: readonly {
    readonly kind: FrictionKind;
    readonly source: string | null;
    readonly match_hint: string | null;
  }[];
  readonly inputs: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
    readonly source: string | null;
  }[];
  readonly included_queries: readonly IncludedQuery[];
  readonly included_docs: readonly IncludedDoc[];
  readonly included_tools: readonly IncludedTool[];
  readonly capabilities: readonly string[];
  readonly secrets: readonly {
    readonly name: string;
    readonly capability: string | null;
    readonly required: boolean;
  }[];
  readonly output_slots: readonly {
    readonly name: string;
    readonly description: string;
    readonly artifact_kind: string;
  }[];
  readonly refresh_policy: { readonly mode: string; readonly interval: null; readonly stale_after: null };
  readonly fallback_instructions: string;
  readonly review: {
    readonly owner: string | null;
    readonly approval_required: boolean;
    readonly privacy_notes: readonly string[];
  };
  readonly metadata: { readonly recommended_artifact: RecommendedArtifact };
};

export type IncludedQuery = {
  readonly id: string;
  readonly label: string | null;
  readonly provider: string | null;
  readonly query: string;
  readonly filters: FreeMap;
  readonly output_slot: string;
};
export type IncludedDoc = {
  readonly id: string;
  readonly title: string | null;
  readonly url: string | null;
  readonly path: string | null;
  readonly freshness: string | null;
};
export type IncludedTool = {
  readonly name: string;
  readonly capability: string | null;
  readonly purpose: string;
  readonly deterministic: boolean;
};

export interface PackNaming {
  readonly title: string;
  /** Where the friction was met, when that is one place. */
  readonly source: string | null;
  readonly owner: string | null;
  readonly recommended: RecommendedArtifact;
}

const WORDS_IN_ID = 8;
const PRIMARY_SLOT = "primary_context";
/** Friction that a fixed query answers. */
const ANSWERED_BY_QUERY: readonly FrictionKind[] = ["repeated_query", "missing_context"];

/** Gathers from the events of a group, which are in order and at least one. */
export function candidateManifest(events: readonly FrictionEvent[], naming: PackNaming): CandidateManifest {
  const { title, source, owner, recommended } = naming;
  const [first] = events as [FrictionEvent, ...FrictionEvent[]];
  return {
    version: 1n,
    id: wordsOf(title).slice(0, WORDS_IN_ID).join("_"),
    name: title,
    description: `Candidate generated from repeated ${first.kind} friction; review before promotion.`,
    owner: owner ?? first.actor ?? "team",
    triggers: [{ kind: first.kind, source, match_hint: first.recurrence_hints[0] ?? null }],
    inputs: [
      {
        name: "incident_or_task",
        description: "The current incident, ticket, run, or task identifier.",
        required: true,
        source,
      },
    ],
    included_queries: queriesOf(events, first),
    included_docs: docsOf(events),
    included_tools: events.flatMap(toolOf),
    capabilities: sorted(new Set(events.flatMap(({ metadata }) => textAt(metadata, "capability") ?? []))),
    secrets: secretsOf(events),
    output_slots: sorted(new Set(events.map(slotOf))).map((name) => ({
      name,
      description: "Context gathered before the agent starts work",
      artifact_kind: "context",
    })),
    refresh_policy: { mode: "on_demand", interval: null, stale_after: null },
    fallback_instructions:
      "When something in this pack is missing or out of date, go on as without it and say what was missing.",
    review: {
      owner,
      approval_required: true,
      privacy_notes: ["Look through queries, documents and secret names before anybody else uses this pack."],
    },
    metadata: { recommended_artifact: recommended },
  };
}

/** Lower-case runs of ASCII letters and digits; everything else only parts them. */
export function wordsOf(text: string): string[] {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).map((word) => word.toLowerCase());
}

function queriesOf(events: readonly FrictionEvent[], first: FrictionEvent): IncludedQuery[] {
  const queries = events.flatMap((event) => {
    const query = textAt(event.metadata, "query", "deterministic_query");
    if (query === null) return [];
    const label = textAt(event.metadata, "query_label") ?? event.tool;
    return [{ ...calledBy(event), label, query, filters: filtersOf(event.metadata), output_slot: slotOf(event) }];
  });
  if (queries.length === 0 && ANSWERED_BY_QUERY.includes(first.kind)) {
    const query = first.redacted_summary;
    queries.push({ ...calledBy(first), label: first.tool, query, filters: new Map(), output_slot: PRIMARY_SLOT });
  }
  return queries.map((query, i) => ({ id: `query_${i + 1}`, ...query }));
}

function calledBy({ provider, tool }: FrictionEvent): { provider: string | null } {
  return { provider: provider ?? tool };
}

function filtersOf(metadata: FreeMap): FreeMap {
  const filters = metadata.get("filters");
  if (!(filters instanceof Map)) return new Map();
  return new Map([...(filters as FreeMap)].filter(([, value]) => typeof value === "string"));
}

function docsOf(events: readonly FrictionEvent[]): IncludedDoc[] {
  const docs = events.flatMap(({ metadata }) => {
    const url = textAt(metadata, "doc_url", "document_url");
    const path = textAt(metadata, "doc_path", "document_path");
    const common = { title: textAt(metadata, "doc_title"), freshness: textAt(metadata, "freshness") };
    return [
      ...(url === null ? [] : [{ ...common, url, path: null }]),
      ...(path === null ? [] : [{ ...common, url: null, path }]),
    ];
  });
  return docs.map((doc, i) => ({ id: `doc_${i + 1}`, ...doc }));
}

function toolOf({ tool, kind, metadata, redacted_summary }: FrictionEvent): IncludedTool[] {
  const name = tool ?? textAt(metadata, "tool");
  if (name === null) return [];
  const deterministic = ANSWERED_BY_QUERY.includes(kind);
  return [{ name, capability: textAt(metadata, "capability"), purpose: redacted_summary, deterministic }];
}

/** Once per name; the first event that names a secret says what it is for. */
function secretsOf(events: readonly FrictionEvent[]): CandidateManifest["secrets"] {
  const capabilities = new Map<string, string | null>();
  for (const { metadata } of events) {
    const name = textAt(metadata, "secret_ref");
    if (name !== null && !capabilities.has(name)) capabilities.set(name, textAt(metadata, "capability"));
  }
  return sorted(capabilities.keys()).map((name) => ({
    name,
    capability: capabilities.get(name) ?? null,
    required: true,
  }));
}

function slotOf({ metadata }: FrictionEvent): string {
  return textAt(metadata, "output_slot") ?? PRIMARY_SLOT;
}

/** The first of these members that says something: a string that is not blank. */
function textAt(metadata: FreeMap, ...names: readonly string[]): string | null {
  return names.map((name) => metadata.get(name)).find(isText) ?? null;
}

function isText(value: FreeForm | undefined): value is string {
  return typeof value === "string" && trimSpace(value) !== "";
}

function sorted(texts: Iterable<string>): string[] {
  return [...texts].sort(compareUtf8);
}
