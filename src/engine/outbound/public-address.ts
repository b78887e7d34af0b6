import { isIPv4, isIPv6 } from "node:net";

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

/** Whoever connects to these reaches the IPv4 address in their last 32 bits. */
const CARRIES_V4: readonly Block[] = [
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

/** Whether an address, in any notation, is one that anybody on the internet could reach. What does not parse is not. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return isPublicV4(bytesOfV4(address));
  // A zone names a link, and no link is public.
  if (!isIPv6(address) || address.includes("%")) return false;
  const bytes = bytesOfV6(address);
  if (CARRIES_V4.some((block) => isInside(bytes, block))) return isPublicV4(bytes.slice(12));
  return isInside(bytes, GLOBAL_V6) && !NOT_PUBLIC_V6.some((block) => isInside(bytes, block));
}

function isPublicV4(bytes: readonly number[]): boolean {
  return !NOT_PUBLIC_V4.some((block) => isInside(bytes, block));
}

function isInside(bytes: readonly number[], [address, bits]: Block): boolean {
  const start = isIPv4(address) ? bytesOfV4(address) : bytesOfV6(address);
  return start.every((byte, i) => {
    const free = 8 - Math.max(0, Math.min(8, bits - i * 8));
    return byte >> free === (bytes[i] ?? 0) >> free;
  });
}

function bytesOfV4(address: string): number[] {
  return address.split(".").map(Number);
}

/** Of a valid address. The last group may be written as IPv4, and `::` stands for as many zeros as are missing. */
function bytesOfV6(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const after = groupsOf(tail);
  return [...before, ...Array<number>(16 - before.length - after.length).fill(0), ...after];
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return bytesOfV4(group);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 255];
  });
}
