/**
 * Names that the host itself writes as an actor, into audit entries, votes and logs. A principal of such a name would be taken for the
 * host: no key is made for one, and no vote is relayed for one. Keys that were made before keep working.
 */
const RESERVED: ReadonlySet<string> = new Set([
  "assay",
  "host",
  "operator",
  "replay",
  "system",
  "timeout",
  "token",
  "unknown",
]);

const RESERVED_PREFIX = "assay:";

/** In any spelling that looks the same to a reader. */
export function isReservedName(name: string): boolean {
  const plain = name.normalize("NFKC").replace(INVISIBLE, "").trim().toLowerCase();
  return RESERVED.has(plain) || plain.startsWith(RESERVED_PREFIX);
}

const INVISIBLE = /\p{Cf}/gu;

export function reservedProblem(name: string): string | undefined {
  if (!isReservedName(name)) return undefined;
  return `"${name}" is a name that the host writes itself, in the audit log for one; choose another`;
}
