import { MASK } from "../events.ts";

/** A value that is kept from sight wherever it turns up. */
export type Secret = string | number;

/**
 * Under this many characters a text or number is masked by name only; by value it would hide too much. So are
 * booleans.
 */
const SHORTEST = 4;

/** Masks by value: wherever a secret turns up inside `value`, also in the names of its fields, it is replaced. */
export function maskValues<T>(value: T, secrets: readonly Secret[]): T {
  return secrets.length === 0 ? value : (mask(value, maskerOf(secrets)) as T);
}

/**
 * The same for values by name, where the names are mostly the author's: a short secret that reads like a name does not change it. A long one
 * is no name of an author's; the starter of a run may name its inputs.
 */
export function maskFieldValues(
  fields: Readonly<Record<string, unknown>>,
  secrets: readonly Secret[],
): Record<string, unknown> {
  if (secrets.length === 0) return fields as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [maskName(name, secrets), maskValues(value, secrets)]),
  );
}

/** A shorter value may be a word that the author chose for a name. */
const SHORTEST_IN_NAME = 16;
/** A name with other characters, such as `token=x`, is a text that the sender of a run wrote. */
const AUTHORS_NAME = /^[\w.$-]*$/;

function maskName(name: string, secrets: readonly Secret[]): string {
  if (!AUTHORS_NAME.test(name)) return maskerOf(secrets).text(name);
  if (name.length < SHORTEST_IN_NAME) return name;
  const shown = maskerOf(secrets).text(name);
  // The parts that secrets of sufficient length took out of the name.
  return shown !== name && name.length - shown.replaceAll(MASK, "").length >= SHORTEST_IN_NAME ? shown : name;
}

/** Ids, names and codes: the log is folded by them, so a secret that reads like one must not change them. */
const STRUCTURE = new Set([
  ...["runId", "parentRunId", "workflowId", "workflowHash", "owner", "transport", "engineVersion", "limits"],
  ...["nodeId", "nodeIds", "typeId", "failedNodeId", "edgeId", "name", "channel", "reducer", "writtenAt", "changeId"],
  ...["kind", "drainPolicy", "by", "cancelledBy", "parentNodeId", "depth", "verdict"],
  ...[
    "interruptId",
    "key",
    "requestedAt",
    "resolvedAt",
    "resolvedBy",
    "resolvedByKind",
    "decidedAt",
    "decidedBy",
    "answeredBy",
  ],
  ...["timeoutMs", "resumeSchema", "correlationId", "profile", "outcome", "action", "actions", "gateId", "principal"],
  ...[
    "principalKind",
    "voter",
    "eligibleBy",
    "replaces",
    "makers",
    "countsAs",
    "relayedPerson",
    "override",
    "quorumProgress",
    "resource",
    "allowed",
  ],
  ...["childRunId", "childWorkflowId", "childStatus", "waits", "propagates", "status", "artifactId", "artifactType"],
  ...["rootRunId", "takes", "sensitive", "sensitiveInputs"],
]);

const NAMED_VALUES = new Set(["inputs", "defaults", "configurable", "outputs", "variables", "data", "answers"]);

/** An event's payload as it is shown. */
export function maskPayload<T extends object>(payload: T, secrets: readonly Secret[]): T {
  if (secrets.length === 0) return payload;
  const shown = Object.entries(payload).map(([field, value]) => {
    if (STRUCTURE.has(field)) return [field, value];
    if (NAMED_VALUES.has(field)) return [field, maskFieldValues(value, secrets)];
    if (field === "error" || field === "lastError") return [field, maskError(value, secrets)];
    return [field, maskValues(value, secrets)];
  });
  return Object.fromEntries(shown) as T;
}

/**
 * A secret of one run stays secret in a run that receives it: masked there, and known by its value, for it may
 * be part of a longer text. `shown` is the payload with what is masked by name.
 */
export function handOver<T extends object>(
  payload: T,
  shown: T,
  secrets: readonly Secret[],
): { readonly payload: T; readonly sealed?: T } {
  const masked = maskPayload(shown, secrets);
  const before = JSON.stringify(shown);
  if (JSON.stringify(masked) !== before) {
    return { payload: { ...masked, secrets: MASK }, sealed: { ...payload, secrets: [...secrets] } };
  }
  return before === JSON.stringify(payload) ? { payload } : { payload: shown, sealed: payload };
}

export function maskError<E extends { readonly code: string }>(error: E, secrets: readonly Secret[]): E {
  return { ...maskValues(error, secrets), code: error.code };
}

/** The values of `sealed` where `shown` has the mask: those that were masked by name. */
export function masked(shown: unknown, sealed: unknown): Secret[] {
  if (shown === MASK) return sealed === MASK ? [] : secretsIn(sealed);
  if (typeof shown !== "object" || shown === null || typeof sealed !== "object" || sealed === null) return [];
  return Object.entries(shown).flatMap(([name, value]) =>
    Object.hasOwn(sealed, name) ? masked(value, (sealed as Record<string, unknown>)[name]) : [],
  );
}

/** The texts and numbers of a sensitive value. */
export function secretsIn(value: unknown): Secret[] {
  if (typeof value === "string" || typeof value === "number") {
    return String(value).length >= SHORTEST && !MASK.includes(String(value)) ? [value] : [];
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

export function sensitiveValues(variables: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): Secret[] {
  return [...names].flatMap((name) => (Object.hasOwn(variables, name) ? secretsIn(variables[name]) : []));
}

interface Masker {
  readonly numbers: ReadonlySet<unknown>;
  text(value: string): string;
}

/** The same list is asked about field by field. */
const MASKERS = new WeakMap<readonly Secret[], Masker>();

function maskerOf(secrets: readonly Secret[]): Masker {
  const masker = MASKERS.get(secrets) ?? makeMasker(secrets);
  MASKERS.set(secrets, masker);
  return masker;
}

/** Characters that JSON escapes. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;

/** A run holds no more secrets when it is started or answered; one that comes to more shows no text at all. */
export const SECRETS_MAX = 10_000;

function makeMasker(secrets: readonly Secret[]): Masker {
  const numbers = new Set(secrets.filter((secret) => typeof secret === "number"));
  if (secrets.length > SECRETS_MAX) return { numbers, text: () => MASK };
  const texts = new Set<string>();
  for (const secret of secrets) {
    texts.add(String(secret));
    // As it stands in a text that quotes it.
    if (typeof secret === "string" && ESCAPED.test(secret)) texts.add(JSON.stringify(secret).slice(1, -1));
  }
  // Longest first: a secret that begins with another one must not be left with its tail showing.
  const longestFirst = [...texts].sort((a, b) => b.length - a.length);
  return { numbers, text: textMasker(longestFirst) };
}

/** Beyond this many, looking for each in turn costs more than looking at every character once. */
const FEW = 32;

/** Characters of a value times those of the longest secret: up to here a search for each secret in turn is always short. */
const SMALL = 1_000_000;

function textMasker(longestFirst: readonly string[]): Masker["text"] {
  const inTurn = oneByOne(longestFirst);
  const longest = longestFirst[0]?.length ?? 0;
  let all: Masker["text"] | undefined;
  return (value) => {
    if (longestFirst.length <= FEW && value.length * longest <= SMALL) return inTurn(value);
    all ??= byBeginning(longestFirst);
    return all(value);
  };
}

function oneByOne(texts: readonly string[]): Masker["text"] {
  return (value) => {
    let shown = value;
    for (const text of texts) if (shown.includes(text)) shown = shown.replaceAll(text, MASK);
    return shown;
  };
}

interface SameBeginning {
  readonly texts: Set<string>;
  /** Of the texts, longest first. */
  readonly lengths: Set<number>;
}

/** The work of one value: a comparison is one unit, and one more for so many characters of it. */
const COMPARED_PER_UNIT = 32;
const UNITS = 200;
const UNITS_PER_CHARACTER = 2;

/**
 * Looks at every place of a value once. Secrets may be made so that thousands of them begin alike, and a value so that it begins like them in
 * every place: a value that takes too many comparisons is not shown at all.
 */
function byBeginning(texts: readonly string[]): Masker["text"] {
  const index = new Map<string, SameBeginning>();
  const pairs = new Uint8Array(PAIRS);
  for (const text of texts) {
    const beginning = text.slice(0, SHORTEST);
    const same = index.get(beginning) ?? { texts: new Set(), lengths: new Set() };
    index.set(beginning, same);
    same.texts.add(text);
    same.lengths.add(text.length);
    pairs[pairAt(text, 0)] = 1;
  }
  const whole = new Set(texts);
  return (value) => {
    // A list of tens of thousands of secrets is mostly this.
    if (whole.has(value)) return MASK;
    let left = UNITS + UNITS_PER_CHARACTER * value.length;
    const lengthAt = (i: number): number => {
      const same = index.get(value.slice(i, i + SHORTEST));
      for (const length of same?.lengths ?? []) {
        if (length > value.length - i) continue;
        left -= 1 + length / COMPARED_PER_UNIT;
        if (left < 0) return 0;
        if (same?.texts.has(value.slice(i, i + length))) return length;
      }
      return 0;
    };
    let shown = "";
    let copied = 0;
    for (let i = 0; i + SHORTEST <= value.length; ) {
      const length = pairs[pairAt(value, i)] === 0 ? 0 : lengthAt(i);
      if (left < 0) return MASK;
      if (length > 0) {
        shown += value.slice(copied, i) + MASK;
        copied = i + length;
      }
      i += Math.max(1, length);
    }
    return shown + value.slice(copied);
  };
}

const PAIRS = 65_536;

/** A number for two characters; most places of a value are passed over by it. */
function pairAt(text: string, i: number): number {
  return ((text.charCodeAt(i) << 8) ^ text.charCodeAt(i + 1)) & (PAIRS - 1);
}

function mask(value: unknown, masker: Masker): unknown {
  if (typeof value === "string") return masker.text(value);
  if (typeof value === "number") return masker.numbers.has(value) ? MASK : value;
  if (Array.isArray(value)) return value.map((item) => mask(item, masker));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [masker.text(key), mask(item, masker)]));
  }
  return value;
}
