import { hiddenArgument, hiddenByName } from "../../formats/secrets/hidden-value.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { isHeaderName, isSecretName } from "../../formats/secrets/secret-names.ts";
import { AppError } from "../../protocol/errors.ts";
import { withMembers } from "../../protocol/runs/secret-options.ts";

/** Members that name a credential of the host; nodes need them as they are. */
const REFERENCES: ReadonlySet<string> = new Set(["credentialsRef", "credentialRef"]);
/** Members with values of their author's choice, which are hidden by any secret name that they have, and not only by that of a header. */
const SETTINGS: ReadonlySet<string> = new Set(["config", "settings", "metadata", "triggers"]);
/** What a mapping has under a name is the name of a variable or port. */
const MAPPING = /mapping$/i;
type Names = (name: string) => boolean;
const HEADERS: Names = isHeaderName;
type Fields = Readonly<Record<string, unknown>>;

export interface ScrubbedDefinition {
  readonly definition: unknown;
  /** How many texts something was taken out of. */
  readonly scrubbed: number;
}

/**
 * A workflow definition without the secrets that its author wrote into it: definitions are shown to everyone who may read workflows, and their
 * texts are copied into events and interrupts. Runs get the same text, so that nothing that a run shows can differ from its definition.
 *
 * By name only values are hidden: static inputs, defaults, members of `config`, `settings`, `metadata` and `triggers`, headers and arguments of programs. Elsewhere, and in
 * mappings, a text under a name like `token` is the name of a variable.
 */
export function scrubDefinition(scrubber: Scrubber, raw: unknown): ScrubbedDefinition {
  let scrubbed = 0;

  const counted = (before: unknown, after: unknown): unknown => {
    if (!Object.is(before, after)) scrubbed++;
    return after;
  };

  const texts = (value: unknown, names: Names = HEADERS): unknown => {
    if (typeof value === "string") return counted(value, scrubber.scrubText(value));
    return withMembers(value, (name, member) => {
      requireHarmless(scrubber, name);
      if (typeof member !== "string") return texts(member, MAPPING.test(name) ? HEADERS : names);
      if (REFERENCES.has(name)) return reference(member);
      const argument = Array.isArray(value) ? hiddenArgument(value, Number(name)) : undefined;
      if (argument !== undefined) return counted(member, scrubber.scrubText(argument));
      const hidden = names(name) ? hiddenByName(name, member) : undefined;
      return hidden === undefined ? texts(member) : counted(member, hidden);
    });
  };

  const reference = (value: unknown): unknown => {
    if (typeof value !== "string") return texts(value);
    const isAssigned = value.includes("=") && scrubber.scrubText(value) !== value;
    if (!isAssigned && (value.startsWith("cred_") || !scrubber.holdsKey(value))) return value;
    const problem = "a credential reference of the workflow looks like a credential; give the name of one";
    throw new AppError("validation_error", { problem });
  };

  const namedValue = (name: string, value: unknown): unknown =>
    counted(value, scrubber.scrubValue<Fields>({ [name]: value })[name]);

  /** `{ [holder]: value }` where the value belongs to `name`. */
  const held = (name: string, item: unknown, holder: string): unknown =>
    withMembers(item, (member, value) => {
      if (member !== holder) return texts(value);
      // A default that is declared sensitive is masked in its runs, by its value, and nodes need it.
      return isSensitive(item) ? value : namedValue(name, value);
    });

  const node = (item: unknown): unknown =>
    withMembers(item, (member, value) => {
      if (member !== "inputs") return member === "credentialsRef" ? reference(value) : nested(member, value);
      return withMembers(value, (name, port) => (isStatic(port) ? held(name, port, "value") : texts(port)));
    });

  const nested = (name: string, value: unknown): unknown => {
    requireHarmless(scrubber, name);
    return texts(value, SETTINGS.has(name) ? isSecretName : HEADERS);
  };

  const definition = withMembers(raw, (member, value) => {
    if (member === "nodes") return withMembers(value, (_, item) => node(item));
    if (member === "variables") return withMembers(value, (_, item) => held(nameOf(item), item, "defaultValue"));
    if (member === "channels") return withMembers(value, (name, item) => held(name, item, "default"));
    return nested(member, value);
  });
  return { definition, scrubbed };
}

function requireHarmless(scrubber: Scrubber, name: string): void {
  if (name.length < SHORTEST || scrubber.scrubText(name) === name) return;
  const problem = "a member of the workflow has a name that looks like a secret; rename it";
  throw new AppError("validation_error", { problem });
}

/** A shorter name is no secret. */
const SHORTEST = 8;

function isSensitive(item: unknown): boolean {
  return typeof item === "object" && item !== null && "sensitive" in item && item.sensitive === true;
}

function isStatic(port: unknown): boolean {
  return typeof port === "object" && port !== null && "type" in port && port.type === "static";
}

function nameOf(item: unknown): string {
  const name = typeof item === "object" && item !== null && "name" in item ? item.name : "";
  return typeof name === "string" ? name : "";
}
