import type { FreeForm, FreeMap } from "../../json/print-json.ts";
import { hiddenByName } from "../../secrets/hidden-value.ts";
import type { Scrubber } from "../../secrets/scrub.ts";
import type { Row } from "./sidecar.ts";

/** The row without secrets in any of its texts, names of members included. */
export function redactRow(row: Row, { scrubText }: Scrubber): Row {
  const maybe = (text: string | null) => (text === null ? null : scrubText(text));
  return {
    ...row,
    id: scrubText(row.id),
    evidence: maybe(row.evidence),
    suggested_fix: redactFreeForm(row.suggested_fix, scrubText),
    author: row.author && { ...row.author, id: maybe(row.author.id), surface: maybe(row.author.surface) },
    timestamp: maybe(row.timestamp),
    friction_kind: maybe(row.friction_kind),
    links: row.links.map(({ label, url, reference }) => ({
      label: maybe(label),
      url: maybe(url),
      reference: maybe(reference),
    })),
    metadata: redactMap(row.metadata, scrubText),
  };
}

function redactFreeForm(value: FreeForm, scrubText: (text: string) => string): FreeForm {
  if (typeof value === "string") return scrubText(value);
  if (value instanceof Map) return redactMap(value, scrubText);
  return Array.isArray(value) ? value.map((one: FreeForm) => redactFreeForm(one, scrubText)) : value;
}

/** Names that became one are told apart by a number: no member is lost. */
function redactMap(map: FreeMap, scrubText: (text: string) => string): FreeMap {
  const clean = new Map<string, FreeForm>();
  for (const [name, value] of map) {
    const said = scrubText(name);
    let free = said;
    for (let use = 2; clean.has(free) || (free !== name && map.has(free)); use++) free = `${said} ${use}`;
    const hidden = typeof value === "string" ? hiddenByName(name, value) : undefined;
    clean.set(free, hidden ?? redactFreeForm(value, scrubText));
  }
  return clean;
}
