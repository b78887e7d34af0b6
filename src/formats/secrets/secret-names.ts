import { MASK } from "../../protocol/words.ts";
import type { TextRange } from "./text-range.ts";

/**
 * Names whose values are secret, whatever the values look like. A name is split into words, so `DB_PASSWORD`, `dbPassword`, `db-password`
 * and `config.db.password` are one name. The last word decides: a `token` is secret, a `tokenCount` is not.
 */

/** Names that end with one of these words. */
const LAST_WORDS: ReadonlySet<string> = new Set([
  ...["password", "passwords", "passwd", "passwort", "pwd", "passphrase", "passcode", "secret", "token", "jwt"],
  ...["apikey", "apikeys", "authorization", "authtoken", "credential", "credentials", "cookie"],
]);

/** Words that are often written as part of a longer one: `mysqlpassword`, `clientsecret`. */
const ENDINGS =
  /(?:password|passwd|passphrase|apikey|secretkey|privatekey|accesskey|(?:client|app|shared|webhook)secret|(?:auth|access|api|refresh|bearer|session|id|bot)token)$/;

/** Kinds of keys whose values are secret: a sort key or a primary key is not. */
const KEYS: ReadonlySet<string> = new Set([
  ...["api", "access", "secret", "private", "signing", "encryption", "decryption", "master", "shared", "account"],
  ...["auth", "service", "subscription", "application", "storage", "deploy", "ssh", "pgp", "gpg", "hmac", "webhook"],
  // Services whose keys are mostly named after the service alone: `AZURE_OPENAI_KEY`.
  ...["openai", "anthropic", "gemini", "mistral", "groq", "cohere", "stripe", "sendgrid", "twilio", "datadog"],
]);

/** Owners whose `pass` is a password: the first pass of a compiler is not. */
const PASSES: ReadonlySet<string> = new Set([
  ...["db", "database", "smtp", "mail", "email", "imap", "ftp", "ssh", "user", "admin", "root", "mysql", "pg"],
  ...[
    "postgres",
    "redis",
    "mongo",
    "ldap",
    "proxy",
    "http",
    "auth",
    "login",
    "basic",
    "become",
    "sudo",
    "vault",
    "wifi",
  ],
]);

/** Tokens that give no access: places in a list, parts of a text, names of a request. */
const HARMLESS_TOKENS: ReadonlySet<string> = new Set([
  ...["page", "next", "continuation", "sync", "cursor", "cancellation", "cancel", "abort", "idempotency", "paging"],
  ...["eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "stop", "per", "first", "last", "start", "end"],
  ...["current", "prev", "previous", "peek", "lookahead", "max", "min", "design", "color", "each", "output", "input"],
]);

/** Words that follow a secret name and leave it secret: which of several, or its encoding. */
const QUALIFIERS: ReadonlySet<string> = new Set([
  ...["value", "plain", "plaintext", "base", "base64", "b64", "hex", "raw", "old", "new", "current", "primary"],
  ...["secondary", "backup", "prod", "production", "dev", "development", "test", "staging", "live"],
]);

/** Signatures of links that give access to anyone who has the link. */
const SIGNATURES = /^x-(?:amz|goog)-(?:signature|credential)$/i;

/** Longer strings are not names. */
export const NAME_MAX = 80;
/** The same few names occur again and again. */
const KNOWN_MAX = 5_000;
let known = new Map<string, boolean>();

export function isSecretName(name: string): boolean {
  if (name.length < 3 || name.length > NAME_MAX) return false;
  const before = known.get(name);
  if (before !== undefined) return before;
  if (known.size >= KNOWN_MAX) known = new Map();
  const decided = decide(name);
  known.set(name, decided);
  return decided;
}

function decide(name: string): boolean {
  if (SIGNATURES.test(name)) return true;
  const words = wordsOf(name);
  while (words.length > 1 && isQualifier(words.at(-1))) words.pop();
  const last = words.at(-1)?.replace(/\d+$/, "") ?? "";
  const owner = words.at(-2) ?? "";
  if (last === "token") return !HARMLESS_TOKENS.has(owner);
  if (last === "key") return KEYS.has(owner);
  if (last === "pass") return PASSES.has(owner) || (owner !== "" && name === name.toUpperCase());
  // A word in two parts: `passPhrase`, `api_keys`.
  return LAST_WORDS.has(last) || LAST_WORDS.has(`${owner}${last}`) || ENDINGS.test(last) || name === "_auth";
}

function isQualifier(word: string | undefined): boolean {
  return word !== undefined && (QUALIFIERS.has(word) || /^v?\d+$/.test(word));
}

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

/** Names of HTTP headers, which do not occur in sentences: a value follows their colon. */
export function isHeaderName(name: string): boolean {
  return /^(?:(?:x|proxy|private|set|api|auth|ocp)-[\w-]+|authorization|cookie)$/i.test(name);
}

/** Words in the place of a value that are not values: types, states, keywords of languages. */
const NO_VALUES: ReadonlySet<string> = new Set([
  ...["none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "n/a", "todo", "tbd", "never"],
  ...["string", "number", "boolean", "bool", "object", "array", "int", "integer", "text", "any", "unknown", "void"],
  ...["bytes", "str", "char", "varchar", "required", "optional", "missing", "invalid", "valid", "expired", "empty"],
  ...["unset", "set", "redacted", "masked", "hidden", "include", "omit", "same-origin", "basic", "bearer", "digest"],
  ...["await", "new", "yield", "typeof", "function", "async", "lambda", "not", "return", "enabled", "disabled"],
  ...[
    "granted",
    "denied",
    "approved",
    "rejected",
    "pending",
    "allowed",
    "accepted",
    "refused",
    "declined",
    "confirmed",
  ],
  ...["wrong", "incorrect", "forbidden", "revoked", "rotated", "unchanged", "changed", "inherit", "self", "this"],
]);

/** A value that only refers to a secret: `${TOKEN}`, `$(cat key)`, `{{ secrets.x }}`, `<your token>`, `%TOKEN%`, `***`. */
const REFERENCE =
  /^(?:\$\{[^}]*\}|\$\([^)]*\)?|\$[A-Za-z_]+|\{\{[^}]*\}\}|\{[A-Za-z_.]*\}|<[A-Za-z _-]+>|%[A-Za-z_]+%|:[a-z]+|\*{3,}|x{3,}|\.{3}|…|(?:\[REDACTED(?::[^\]]*)?\])+)$/;

function isLetterOrDigit(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/** Whether this is a value, and not a word about one. */
export function isValue(value: string, name: string): boolean {
  if (
    value.length > 200 ||
    (value.length > 12 && isLetterOrDigit(value.charCodeAt(0)) && value.length !== name.length)
  ) {
    return !/^x+$/.test(value);
  }
  const plain = value.trim().toLowerCase();
  if (!/[\p{L}\p{N}]/u.test(plain) && plain.length < 4) return false;
  return !NO_VALUES.has(plain) && plain !== name.toLowerCase() && !REFERENCE.test(value.trim());
}

const SCHEME =
  /^\s{0,8}(?:bearer|basic|token|digest|negotiate|ntlm|apikey|api-key|hawk|aws4-hmac-sha256|sso-key|splunk|key)\s{1,64}(?=\S)/i;

/** The length of a prefix of the value that names its scheme and is not part of the secret. */
export function schemeLength(value: string): number {
  return SCHEME.exec(value.slice(0, 100))?.[0].length ?? 0;
}

/** A reference with a default value: `${NAME:value}`, `${NAME:-value}`. */
const REFERENCE_WITH_DEFAULT = /\$\{[A-Za-z_][\w.]{0,80}(?::(?![?+])[-=]?|[-=])(?=[^}\n])/y;

/** The range without the name of a scheme, and without the reference that it is the default of; undefined where no value remains. */
export function checked(text: string, [from, to]: TextRange, name: string): TextRange | undefined {
  REFERENCE_WITH_DEFAULT.lastIndex = from;
  if (REFERENCE_WITH_DEFAULT.test(text) && REFERENCE_WITH_DEFAULT.lastIndex < to) {
    return checked(text, defaultIn(text, REFERENCE_WITH_DEFAULT.lastIndex, to), name);
  }
  const value = text.slice(from, to);
  if (value === MASK || !isValue(value, name)) return undefined;
  const scheme = value.includes(" ") ? schemeLength(value) : 0;
  return scheme === 0 || isValue(value.slice(scheme), name) ? [from + scheme, to] : undefined;
}

/** A longer default is read up to the end of the value. */
const DEFAULT_MAX = 200;

/** Up to the bracket that closes the reference; a value without quotes was read up to a blank only. */
function defaultIn(text: string, from: number, to: number): TextRange {
  const [line = ""] = text.slice(from, Math.max(to, from + DEFAULT_MAX)).split(/[\r\n"]/, 1);
  const close = line.indexOf("}");
  return close === -1 ? [from, to] : [from, from + close];
}
