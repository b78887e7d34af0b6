import { type Cleaning, changedTexts, cleaned } from "../../formats/secrets/clean-value.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { isHeaderName } from "../../formats/secrets/secret-names.ts";
import { type AppError, validationError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/own.ts";
import { withMembers } from "../../protocol/runs/secret-options.ts";
import { type Cleaner, cleanInTurns } from "../secrets/scrub-in-turns.ts";

/** Members that name a credential of the host; nodes need them unchanged. */
const REFERENCES: ReadonlySet<string> = new Set(["credentialsRef", "credentialRef"]);
/** Members whose values are masked under any secret name, not only under names of headers. */
const SETTINGS: ReadonlySet<string> = new Set(["config", "settings", "metadata", "triggers", "configurableSchema"]);
/** Members whose values are names of variables, ports or members. */
const MAPPING = /mapping$|^dependentRequired$|^dependencies$/i;
type Fields = Readonly<Record<string, unknown>>;

export interface ScrubbedDefinition {
  readonly definition: unknown;
  /** The number of changed texts. */
  readonly scrubbed: number;
}

/**
 * A workflow definition without the secrets that its author wrote into it: all readers of workflows see definitions, and their texts are copied
 * into events and interrupts. Runs execute the scrubbed definition, so that a run shows nothing else than its definition.
 *
 * Values are masked by their name in static inputs, defaults, members of `SETTINGS`, headers and arguments of programs, alone and in lists.
 * Elsewhere, and in mappings, a text under a name like `token` is the name of a variable.
 */
export async function scrubDefinition(
  scrubber: Cleaner & Pick<Scrubber, "holdsKey">,
  raw: unknown,
): Promise<ScrubbedDefinition> {
  const { holdsKey } = scrubber;
  // biome-ignore lint/correctness/useYield: a definition is small enough for one step
  const definition = await cleanInTurns(scrubber, function* (scrubText) {
    return cleanDefinition({ scrubText, holdsKey }, raw);
  });
  return { definition, scrubbed: changedTexts(raw, definition) };
}

function cleanDefinition({ scrubText, holdsKey }: Pick<Scrubber, "scrubText" | "holdsKey">, raw: unknown): unknown {
  const harmless = (name: string): string => {
    if (name.length < SHORTEST || scrubText(name) === name) return name;
    throw validationError("a member of the workflow has a name that looks like a secret; rename it");
  };

  const reference = (value: string): string => {
    if (value.length > REFERENCE_MAX) throw refusedReference();
    const isAssigned = value.includes("=") && scrubText(value) !== value;
    if (!isAssigned && (value.startsWith("cred_") || !holdsKey(value))) return value;
    throw refusedReference();
  };

  const references: Cleaning = { text: reference };
  const under =
    (here: () => Cleaning) =>
    (name: string, value: unknown): Cleaning => {
      if (REFERENCES.has(name) && typeof value === "string") return references;
      return MAPPING.test(name) ? elsewhere : here();
    };
  const elsewhere: Cleaning = { text: scrubText, name: harmless, hides: isHeaderName, under: under(() => elsewhere) };
  const settings: Cleaning = { text: scrubText, name: harmless, under: under(() => settings) };
  const values: Cleaning = { text: scrubText };

  const nested = (name: string, value: unknown): unknown =>
    cleaned(value, SETTINGS.has(harmless(name)) ? settings : elsewhere);

  /** `{ [holder]: value }` where the value belongs to `name`. */
  const held = (name: string, item: unknown, holder: string): unknown =>
    withMembers(item, (member, value) => {
      if (member !== holder) return cleaned(value, elsewhere);
      // A sensitive default is masked by its value in runs, and nodes need it.
      return isSensitive(item) ? value : (cleaned({ [harmless(name)]: value }, values) as Fields)[name];
    });

  const node = (item: unknown): unknown =>
    withMembers(item, (member, value) => {
      if (member === "credentialsRef" && typeof value === "string") return reference(value);
      if (member !== "inputs") return nested(member, value);
      return withMembers(value, (name, port) =>
        isStatic(port) ? held(name, port, "value") : cleaned(port, elsewhere),
      );
    });

  return withMembers(raw, (member, value) => {
    if (member === "nodes") return withMembers(value, (_, item) => node(item));
    if (member === "variables") return withMembers(value, (_, item) => held(nameOf(item), item, "defaultValue"));
    if (member === "channels") return withMembers(value, (name, item) => held(name, item, "default"));
    return nested(member, value);
  });
}

/** Longer texts are no names of credentials. */
const REFERENCE_MAX = 1_024;

function refusedReference(): AppError {
  return validationError("a credential reference of the workflow looks like a credential; give the name of one");
}

/** Shorter names are no secrets. */
const SHORTEST = 8;

function isSensitive(item: unknown): boolean {
  return isObject(item) && item["sensitive"] === true;
}

function isStatic(port: unknown): boolean {
  return isObject(port) && port["type"] === "static";
}

function nameOf(item: unknown): string {
  const name = isObject(item) ? item["name"] : "";
  return typeof name === "string" ? name : "";
}
