import { createHash } from "node:crypto";

/**
 * The root over the hashes of consecutive entries (RFC 0218): a parent is the SHA-256 of its children's hex digits as
 * ASCII, and an odd last node moves up unchanged.
 */
export function merkleRoot(leaves: readonly string[]): string {
  let level = leaves;
  while (level.length > 1) {
    const parents: string[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const [left = "", right] = level.slice(i, i + 2);
      parents.push(right === undefined ? left : parentOf(left, right));
    }
    level = parents;
  }
  const [root] = level;
  if (root === undefined) throw new Error("a checkpoint covers at least one entry");
  return root;
}

function parentOf(left: string, right: string): string {
  return createHash("sha256").update(`${left}${right}`, "ascii").digest("hex");
}
