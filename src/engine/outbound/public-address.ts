import { BlockList, isIPv4, isIPv6 } from "node:net";

type Block = readonly [address: string, bits: number];

/** The blocks of IANA's special-purpose registry that are not globally reachable, and one metadata service. */
const NOT_PUBLIC_V4: readonly Block[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Has 169.254.169.254, where clouds serve the credentials of a machine.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  // A public address that serves the machine's own configuration inside one large cloud.
  ["168.63.129.16", 32],
];

/** Blocks within the global part of IPv6. Teredo and the benchmark net are in the first one, 6to4 is the third. */
const NOT_PUBLIC_V6: readonly Block[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/** The global part of IPv6; all other addresses are refused. */
const GLOBAL_V6: Block = ["2000::", 3];

/** Prefixes of addresses that reach the IPv4 address in their last 32 bits. */
const CARRIES_V4 = ["::ffff:", "64:ff9b::"];

const notPublic = new BlockList();
const globalV6 = new BlockList();
for (const [address, bits] of NOT_PUBLIC_V4) {
  notPublic.addSubnet(address, bits, "ipv4");
  for (const carrier of CARRIES_V4) notPublic.addSubnet(carrier + address, 96 + bits, "ipv6");
}
for (const [address, bits] of NOT_PUBLIC_V6) notPublic.addSubnet(address, bits, "ipv6");
globalV6.addSubnet(...GLOBAL_V6, "ipv6");
for (const carrier of CARRIES_V4) globalV6.addSubnet(`${carrier}0.0.0.0`, 96, "ipv6");

/** Whether an address, in any notation, is globally reachable. A text that is no address is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, "ipv4");
  // A zone names a link, and no link is public.
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalV6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

/** Suffixes of names that are private to one machine, network or cloud, also where they resolve to public addresses. */
const PRIVATE_SUFFIXES = [
  ...[
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
  ],
];

/** Whether a host name, lower-case as in a parsed URL, cannot be that of a public service. */
export function isPrivateName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  // A single label is resolved in the search domains of the machine: `metadata`, `instance-data`, a container's name.
  if (!name.includes(".")) return true;
  return PRIVATE_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`));
}
