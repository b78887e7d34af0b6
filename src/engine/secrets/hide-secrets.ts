import { findText } from "../../formats/text/find-text.ts";
import { validationError } from "../../protocol/errors.ts";
import { type EventDraft, MASK } from "../../protocol/events.ts";
import { own } from "../../protocol/own.ts";
import { withMembers, withoutCredentials, withoutDeclared } from "../../protocol/runs/secret-options.ts";
import { maskValues, SECRETS_MAX, type Secret, secretsIn } from "../../protocol/runs/sensitive.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import { type Cleaner, scrubInTurns } from "./scrub-in-turns.ts";

type Begun = Extract<EventDraft, { type: "run.started" | "assay.branch.began" }>;

/** Refuses more secrets than can be masked in the texts of a run without blocking other requests. */
export function requireFewSecrets(secrets: readonly Secret[]): void {
  if (secrets.length <= SECRETS_MAX) return;
  const problem = `there are ${secrets.length} secrets in it, and a run may hold ${SECRETS_MAX}; send fewer, or the name of a file that holds them`;
  throw validationError(problem);
}

/** The members that the starter of a run gives. */
const GIVEN = ["inputs", "configurable", "metadata", "tags", "changes", "callbackUrl"] as const;

/**
 * Seals texts that look like secrets in the given members of a run, as if they had been declared sensitive: nodes get them, and readers see them masked.
 * The same holds for options that their schema declares secret.
 */
export async function hideSecrets<T extends Begun>(
  draft: T,
  { configurableSchema }: Pick<WorkflowDefinition, "configurableSchema">,
  scrubber: Cleaner,
): Promise<T> {
  const { payload } = draft;
  const found: Secret[] = [];
  const shown: Record<string, unknown> = {};
  for (const name of GIVEN) {
    const given = own(payload as Readonly<Record<string, unknown>>, name);
    const declared = name === "configurable" ? withoutDeclared(given, configurableSchema) : given;
    const clean = await scrubInTurns(scrubber, withoutReferences(withoutCredentials(declared)));
    if (clean === given) continue;
    shown[name] = clean;
    found.push(...taken(given, clean));
  }
  if (Object.keys(shown).length === 0) return draft;
  const all = draft.sealed ?? payload;
  const known = found.length === 0 ? {} : { secrets: found };
  const mark = found.length === 0 ? {} : { secrets: MASK };
  const short = inputsWithShort(payload.inputs ?? {}, shown["inputs"]);
  const sensitive = (names: readonly string[]) =>
    names.length === 0 ? {} : { sensitiveInputs: [...(all.sensitiveInputs ?? []), ...names] };
  return {
    ...draft,
    payload: { ...payload, ...shown, ...mark, ...sensitive(short.map(({ shownName }) => shownName)) },
    sealed: { ...all, ...known, ...sensitive(short.map(({ name }) => name)) },
  };
}

/** Inputs with a secret that is too short to be masked by its value; they are masked by their name. */
function inputsWithShort(
  given: Readonly<Record<string, unknown>>,
  clean: unknown,
): readonly { readonly name: string; readonly shownName: string }[] {
  if (typeof clean !== "object" || clean === null) return [];
  const after = Object.entries(clean);
  return Object.entries(given).flatMap(([name, value], i) => {
    const [shownName, shown] = after[i] ?? [name, value];
    return hasShort(value, shown) ? [{ name, shownName }] : [];
  });
}

function hasShort(given: unknown, clean: unknown): boolean {
  if (clean === MASK) return given !== MASK && secretsIn(given).length === 0;
  if (typeof given !== "object" || given === null || typeof clean !== "object" || clean === null) return false;
  const after: readonly unknown[] = Object.values(clean);
  return Object.values(given).some((value, i) => hasShort(value, after[i]));
}

/** A reference to a credential of the host, as a whole text. */
const CREDENTIAL = /^cred_[A-Za-z0-9_-]{4,}$/;

function withoutReferences(value: unknown): unknown {
  if (typeof value === "string") return CREDENTIAL.test(value) ? MASK : value;
  return withMembers(value, (_, one) => withoutReferences(one));
}

/** The shortest secret that is masked alone: a shorter one may be a common word, so the text around it is masked too. */
const SHORTEST = 12;

/** The secrets that masks replaced. */
function taken(given: unknown, clean: unknown): Secret[] {
  // A declared secret may be short; a very short one is masked by its name only.
  if (clean === MASK) return secretsIn(given);
  if (typeof given === "string" && typeof clean === "string") return partsTaken(given, clean);
  if (typeof given !== "object" || given === null || typeof clean !== "object" || clean === null) return [];
  const after = Object.entries(clean);
  return Object.entries(given).flatMap(([name, value], i) => {
    const [shownName, shown] = after[i] ?? [name, value];
    const inside = taken(value, shown);
    // Names that became equal have a number after the mask.
    return name === shownName ? inside : [...partsTaken(name, shownName.replace(/ \d+$/, "")), ...inside];
  });
}

/** The parts of a text that masks replaced; the whole text too where a part is short, or the parts are not certain. */
export function partsTaken(given: string, clean: string): string[] {
  if (given === clean) return [];
  const parts = takenFrom(given, clean);
  const areAll = maskValues(given, parts) === maskValues(clean, parts);
  return areAll && parts.every(isLong) ? parts : [...parts.filter(isLong), given];
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
    const to = isLast ? given.length - text.length : findText(given, text, from + 1);
    if (to <= from) return;
    found.push(given.slice(from, to));
    from = to + text.length;
  });
  return found;
}
