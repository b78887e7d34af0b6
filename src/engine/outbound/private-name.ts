/** Names that mean something only inside one machine, house or cloud, whatever a resolver says of them today. */
const PRIVATE_SUFFIXES = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "home.arpa",
  "lan",
  "svc",
];

/** Whether a host name, lower-case as in a parsed URL, is one that no public service can have. */
export function isPrivateName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  // A single label is looked up in the search domains of the machine: `metadata`, `instance-data`, a container's name.
  if (!name.includes(".")) return true;
  return PRIVATE_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`));
}
