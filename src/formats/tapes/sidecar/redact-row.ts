import type { FreeForm, FreeMap } from "../../json/print-json.ts";
import { cleaned, type Scrubber } from "../../secrets/scrub.ts";
import type { Row } from "./sidecar.ts";

/** The row without secrets in any of its texts, names of members included. */
export function redactRow(row: Row, { scrubText }: Scrubber): Row {
  const maybe = (text: string | null) => (text === null ? null : scrubText(text));
  return {
    ...row,
    id: scrubText(row.id),
    evidence: maybe(row.evidence),
    suggested_fix: cleaned(row.suggested_fix, scrubText) as FreeForm,
    author: row.author && { ...row.author, id: maybe(row.author.id), surface: maybe(row.author.surface) },
    timestamp: maybe(row.timestamp),
    friction_kind: maybe(row.friction_kind),
    links: row.links.map(({ label, url, reference }) => ({
      label: maybe(label),
      url: maybe(url),
      reference: maybe(reference),
    })),
    metadata: cleaned(row.metadata, scrubText) as FreeMap,
  };
}
