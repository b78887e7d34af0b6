import { describe, expect, test } from "vitest";
import { aRow } from "../../../testing/tape-files.ts";
import type { FreeForm } from "../../json/print-json.ts";
import { type FrictionEvent, frictionOf } from "../export.ts";
import { candidateManifest } from "./context-pack.ts";

function event(metadata: Readonly<Record<string, FreeForm>>, more: Partial<FrictionEvent> = {}): FrictionEvent {
  const row = aRow({
    id: "e",
    kind: "friction",
    friction_kind: "tool_gap",
    evidence: "Ask again",
    metadata: new Map(Object.entries(metadata)),
  });
  return { ...(frictionOf(row, { tapePath: null, now: new Date(0) }) as FrictionEvent), ...more };
}

const NAMING = { title: "team ask context pack", source: "a.tape", owner: null, recommended: "both" } as const;
const packOf = (...events: readonly FrictionEvent[]) => candidateManifest(events, NAMING);

describe("a context pack", () => {
  test("belongs to whoever is named, else to the first who met the friction, else to the team", () => {
    const events = [event({}, { actor: "ines" }), event({}, { actor: "ben" })];
    expect(candidateManifest(events, { ...NAMING, owner: "ops" })).toMatchObject({
      owner: "ops",
      review: { owner: "ops" },
    });
    expect(packOf(...events)).toMatchObject({ owner: "ines", review: { owner: null, approval_required: true } });
    expect(packOf(event({})).owner).toBe("team");
  });

  test("holds a query per event that states one, numbered without gaps", () => {
    const { included_queries } = packOf(
      event({ query: " ", deterministic_query: 7n }),
      event({ query: "\u3000", deterministic_query: "b", query_label: "B", output_slot: "s" }, { tool: "psql" }),
      event({ query: "c", deterministic_query: "d" }, { tool: "psql", provider: "pg" }),
    );
    expect(included_queries).toEqual([
      { id: "query_1", label: "B", provider: "psql", query: "b", filters: new Map(), output_slot: "s" },
      { id: "query_2", label: "psql", provider: "pg", query: "c", filters: new Map(), output_slot: "primary_context" },
    ]);
  });

  test("keeps the filters that are texts", () => {
    const filters = new Map<string, FreeForm>([
      ["port", "dover"],
      ["n", 3n],
      ["deep", new Map([["x", "y"]])],
      ["", ""],
    ]);
    expect(packOf(event({ query: "q", filters })).included_queries[0]?.filters).toEqual(
      new Map([
        ["port", "dover"],
        ["", ""],
      ]),
    );
    expect(packOf(event({ query: "q", filters: ["port"] })).included_queries[0]?.filters).toEqual(new Map());
  });

  test.each(["repeated_query", "missing_context"] as const)(
    "for %s asks the summary when no query is stated",
    (kind) => {
      const { included_queries } = packOf(event({ output_slot: "s" }, { kind }), event({}, { kind }));
      const query = { id: "query_1", label: null, provider: null, query: "Ask again" };
      expect(included_queries).toEqual([{ ...query, filters: new Map(), output_slot: "primary_context" }]);
      expect(packOf(event({}), event({ query: "own" }, { kind })).included_queries).toHaveLength(1);
    },
  );

  test("asks nothing that nobody stated for other friction", () => {
    expect(packOf(event({}), event({}, { kind: "repeated_query" })).included_queries).toEqual([]);
  });

  test("holds documents by address and by path", () => {
    const { included_docs } = packOf(
      event({ doc_url: "u", document_url: "other", doc_path: "p", doc_title: "T", freshness: "daily" }),
      event({ document_url: "u2", document_path: "p2" }),
    );
    expect(included_docs).toEqual([
      { id: "doc_1", title: "T", url: "u", path: null, freshness: "daily" },
      { id: "doc_2", title: "T", url: null, path: "p", freshness: "daily" },
      { id: "doc_3", title: null, url: "u2", path: null, freshness: null },
      { id: "doc_4", title: null, url: null, path: "p2", freshness: null },
    ]);
  });

  test("holds a tool per event that names one, the event's own first", () => {
    const { included_tools } = packOf(
      event({ tool: "psql", capability: "db.read" }, { kind: "missing_context" }),
      event({ tool: "psql" }, { tool: "jq" }),
    );
    expect(included_tools).toEqual([
      { name: "psql", capability: "db.read", purpose: "Ask again", deterministic: true },
      { name: "jq", capability: null, purpose: "Ask again", deterministic: false },
    ]);
  });

  test("names capabilities, secrets and slots once, in byte order", () => {
    const pack = packOf(
      event({ capability: "\u{1f600}", secret_ref: "Z", output_slot: "b" }),
      event({ capability: "\uffee", secret_ref: "A" }),
      event({ capability: "\uffee", secret_ref: "Z", output_slot: "b" }),
    );
    expect(pack.capabilities).toEqual(["\uffee", "\u{1f600}"]);
    expect(pack.secrets).toEqual([
      { name: "A", capability: "\uffee", required: true },
      { name: "Z", capability: "\u{1f600}", required: true },
    ]);
    expect(pack.output_slots.map(({ name }) => name)).toEqual(["b", "primary_context"]);
  });
});
