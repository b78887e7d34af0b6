import type { Scrubber } from "../formats/scrub.ts";
import { type EventDraft, MASK } from "../protocol/events.ts";
import { own } from "../protocol/own.ts";

type Begun = Extract<EventDraft, { type: "run.started" | "assay.branch.began" }>;

/** What somebody who starts a run writes into it. */
const GIVEN = ["inputs", "configurable", "metadata", "tags"] as const;

/**
 * What looks like a secret in what a run is given is kept for its nodes and shown to nobody, as if it had been declared sensitive:
 * whoever starts a run may not be the one who wrote its workflow.
 */
export function hideSecrets<T extends Begun>(draft: T, scrubber: Pick<Scrubber, "scrubValue">): T {
  const { payload } = draft;
  const found: string[] = [];
  const shown: Record<string, unknown> = {};
  for (const name of GIVEN) {
    const given = own(payload as Readonly<Record<string, unknown>>, name);
    const clean = scrubber.scrubValue(withoutCredentials(given));
    if (clean === given) continue;
    shown[name] = clean;
    found.push(...taken(given, clean));
  }
  if (Object.keys(shown).length === 0) return draft;
  const all = draft.sealed ?? payload;
  const known = found.length === 0 ? {} : { secrets: found };
  const mark = found.length === 0 ? {} : { secrets: MASK };
  return { ...draft, payload: { ...payload, ...shown, ...mark }, sealed: { ...all, ...known } };
}

/** Members that name a credential: their texts are secret whatever they look like. */
const CREDENTIALS: ReadonlySet<string> = new Set(["credentialRef", "credentialsRef"]);

/** The value itself where it names no credential. */
function withoutCredentials(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const clean = entries.map(([name, one]) =>
    CREDENTIALS.has(name) && typeof one === "string" ? MASK : withoutCredentials(one),
  );
  if (clean.every((one, i) => Object.is(one, entries[i]?.[1]))) return value;
  return Array.isArray(value) ? clean : Object.fromEntries(entries.map(([name], i) => [name, clean[i]]));
}

/** A shorter one may be a common word elsewhere, so the text around it is kept from sight with it. */
const SHORTEST = 12;

/** What stood where there is a mask now. */
function taken(given: unknown, clean: unknown): string[] {
  if (typeof given === "string" && typeof clean === "string") {
    const parts = given === clean ? [] : takenFrom(given, clean);
    return parts.every(isLong) ? parts : [...parts.filter(isLong), given];
  }
  if (typeof given !== "object" || given === null || typeof clean !== "object" || clean === null) return [];
  const after: readonly unknown[] = Object.values(clean);
  return Object.values(given).flatMap((value, i) => taken(value, after[i]));
}

function isLong({ length }: string): boolean {
  return length >= SHORTEST;
}

function takenFrom(given: string, clean: string): string[] {
  const [first = "", ...kept] = clean.split(MASK);
  const found: string[] = [];
  let from = first.length;
  kept.forEach((text, i) => {
    const isLast = i === kept.length - 1;
    const to = isLast ? given.length - text.length : given.indexOf(text, from + 1);
    if (to <= from) return;
    found.push(given.slice(from, to));
    from = to + text.length;
  });
  return found;
}
