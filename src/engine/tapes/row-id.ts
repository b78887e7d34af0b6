import { createHash } from "node:crypto";
import { formatId, RANDOM_BYTES, timeOfId } from "../../protocol/id.ts";

const HASH_BITS = 60n;
/** The characters of an id that the hash takes: five bits each. */
const HASH_CHARACTERS = 12;

/**
 * The id of the annotation that a pushed row makes. Its time is that of the run, since an id must not depend on who pushes when; the
 * place of the row in the file comes next, so that ids ascend with it, and then a hash of what the row is called.
 */
export function rowAnnotationId(runId: string, place: number, name: string): string {
  const hash = createHash("sha256").update(`${runId} ${name}`).digest("hex");
  const bits = (BigInt(place) << HASH_BITS) | BigInt.asUintN(Number(HASH_BITS), BigInt(`0x${hash.slice(0, 16)}`));
  const bytes = Buffer.from(bits.toString(16).padStart(2 * RANDOM_BYTES, "0"), "hex");
  return formatId("ann", timeOfId(runId) ?? 0, bytes);
}

/** Whether two ids are of one row, which may have moved in its file since. */
export function isSameRow(one: string | undefined, other: string): boolean {
  return one?.slice(-HASH_CHARACTERS) === other.slice(-HASH_CHARACTERS);
}
