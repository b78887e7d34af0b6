import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { type EventDraft, MASK } from "../../protocol/events.ts";
import { isObject, own } from "../../protocol/own.ts";
import { maskPayload, maskValues, type Secret, secretsIn } from "../../protocol/runs/sensitive.ts";
import { partsTaken, requireFewSecrets } from "../secrets/hide-secrets.ts";
import { scrubInTurns } from "../secrets/scrub-in-turns.ts";

interface ReceivedAnswer {
  /** The answer for the node. */
  readonly value: unknown;
  /** Its parts that are masked for readers. */
  readonly secrets: readonly Secret[];
}

/** Members of an answer to an approval that are for readers: they are stored without secrets, and the node gets the same text. */
const FOR_READERS: ReadonlySet<string> = new Set([
  ...["action", "decision", "override", "voter", "decidedBy", "decidedAt"],
  ...["reason", "feedback", "refineFeedback", "comment", "question", "answer"],
]);

/**
 * An answer to an interrupt. Its secrets are kept for the node, like those in the inputs of a run. A secret that is too short to be masked by
 * its value is masked for the node too, because it could not be masked where the node repeats it.
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
  const data = Object.entries(clean).filter(([name]) => !FOR_READERS.has(name));
  const kept = data.map(([name, member]) => [name, restored(own(given, name), member, found)]);
  const texts = Object.entries(clean).filter(([name]) => FOR_READERS.has(name));
  return { ...maskValues(Object.fromEntries(texts), found), ...Object.fromEntries(kept) };
}

/** The given value where all that the scrubber removed can be masked by value, the scrubbed one elsewhere. */
function restored(given: unknown, clean: unknown, found: Secret[]): unknown {
  if (Object.is(given, clean)) return clean;
  if (typeof given === "string" && typeof clean === "string") return restoredText(given, clean, found);
  if (!isStructure(given) || !isStructure(clean)) return clean;
  const names = Object.keys(given);
  // Names are not masked by value: where the scrubber changed one, the whole object stays scrubbed.
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

/** Events that contain an answer. */
const CARRIERS: ReadonlySet<EventDraft["type"]> = new Set([
  "clarification.resolved",
  "approval.received",
  "assay.vote.recorded",
  "interrupt.resolved",
]);

/** The events of an answer, with its secrets declared in the first event that has one: that event and all later ones are masked and sealed. */
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
