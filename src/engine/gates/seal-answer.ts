import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { type EventDraft, MASK } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import { maskPayload, maskValues, type Secret, secretsIn } from "../../protocol/runs/sensitive.ts";
import { partsTaken, requireFewSecrets } from "../secrets/hide-secrets.ts";
import { scrubInTurns } from "../secrets/scrub-in-turns.ts";

export interface ReceivedAnswer {
  /** The answer as the node gets it. */
  readonly value: unknown;
  /** The parts of it that readers see masked. */
  readonly secrets: readonly Secret[];
}

/** Members of an answer to an approval that are for readers: they are stored without secrets, and the node gets the same text. */
const WORDS: ReadonlySet<string> = new Set([
  ...["action", "decision", "override", "voter", "decidedBy", "decidedAt"],
  ...["reason", "feedback", "refineFeedback", "comment", "question", "answer"],
]);

/**
 * An answer to an interrupt, with the secrets in it kept for the node that asked, as those in the inputs of a run are. A secret that is too
 * short to be masked by its value wherever it turns up is masked for the node too: readers never see more than the scrubber lets through.
 */
export async function receivedAnswer(
  scrubber: Scrubber,
  given: unknown,
  { isApproval = false } = {},
): Promise<ReceivedAnswer> {
  const clean = await scrubInTurns(scrubber, given);
  const secrets: Secret[] = [];
  const value =
    isApproval && isObject(given) && isObject(clean)
      ? receivedApproval(given, clean, secrets)
      : restored(given, clean, secrets);
  requireFewSecrets(secrets);
  return { value, secrets };
}

function receivedApproval(given: Members, clean: Members, found: Secret[]): Members {
  const data = Object.entries(clean).filter(([name]) => !WORDS.has(name));
  const kept = data.map(([name, member]) => [name, restored(own(given, name), member, found)]);
  const words = Object.entries(clean).filter(([name]) => WORDS.has(name));
  return { ...maskValues(Object.fromEntries(words), found), ...Object.fromEntries(kept) };
}

/** The given value where all that the scrubber took can be masked by value, the clean one elsewhere. */
function restored(given: unknown, clean: unknown, found: Secret[]): unknown {
  if (Object.is(given, clean)) return clean;
  if (typeof given === "string" && typeof clean === "string") return restoredText(given, clean, found);
  if (!isStructure(given) || !isStructure(clean)) return clean;
  const names = Object.keys(given);
  // A name with a secret in it has no place of its own to be masked at: names stay as the scrubber left them, and so does what is under them.
  if (!sameNames(names, Object.keys(clean))) return clean;
  const before: readonly unknown[] = Object.values(given);
  const after = Object.values(clean).map((item: unknown, i) => restored(before[i], item, found));
  return Array.isArray(clean) ? after : Object.fromEntries(names.map((name, i) => [name, after[i]]));
}

function restoredText(given: string, clean: string, found: Secret[]): string {
  const parts = clean === MASK ? [given] : partsTaken(given, clean);
  if (secretsIn(parts).length < parts.length) return clean;
  found.push(...parts);
  return given;
}

function sameNames(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, i) => name === others[i]);
}

function isStructure(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return isStructure(value) && !Array.isArray(value);
}

/** Events that carry an answer, in any of its forms. */
const CARRIERS: ReadonlySet<EventDraft["type"]> = new Set([
  "clarification.resolved",
  "approval.received",
  "assay.vote.recorded",
  "interrupt.resolved",
]);

/**
 * The events of an answer, with its secrets known to the run from the first event that holds one: that event and all later ones show them
 * masked and keep them sealed.
 */
export function withSecrets(drafts: readonly EventDraft[], secrets: readonly Secret[]): readonly EventDraft[] {
  if (secrets.length === 0) return drafts;
  const first = drafts.findIndex((draft) => CARRIERS.has(draft.type) && holds(draft, secrets));
  return drafts.map((draft, i) => (i === first ? marked(draft, secrets) : draft));
}

function holds({ payload }: EventDraft, secrets: readonly Secret[]): boolean {
  return JSON.stringify(maskPayload(payload, secrets)) !== JSON.stringify(payload);
}

function marked(draft: EventDraft, secrets: readonly Secret[]): EventDraft {
  const { payload, sealed = payload } = draft;
  return {
    ...draft,
    payload: { ...maskPayload(payload, secrets), secrets: MASK },
    sealed: { ...sealed, secrets: [...new Set(secrets)] },
  } as EventDraft;
}
