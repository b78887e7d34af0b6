import { BlockList, isIPv4, isIPv6 } from "node:net";

type Block = readonly [address: string, bits: number];

/** Everything in IANA's special-purpose registry that is not reachable by everybody, and one metadata service beside it. */
const NOT_PUBLIC_V4: readonly Block[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Holds 169.254.169.254, where clouds tell a machine its credentials.
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
  // A public address by its number, but inside one large cloud it answers with the machine's own configuration.
  ["168.63.129.16", 32],
];

/** Of what is allocated to the world. Teredo and the benchmark net are inside the first one, 6to4 is the third. */
const NOT_PUBLIC_V6: readonly Block[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/** The only part of IPv6 that is given out to the world; what lies outside is refused without naming it. */
const GLOBAL_V6: Block = ["2000::", 3];

/** A connection to one of these reaches the IPv4 address in its last 32 bits. */
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

/** Whether an address, in any notation, is one that anybody on the internet could reach. What does not parse is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, "ipv4");
  // A zone names a link, and no link is public.
  if (!isIPv6(address) || address.includes("%")) return false;
  return globalV6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}
