import type { TokenKey } from "../../engine/gates/interrupt-token.ts";

/** The name under which the key in the database signs. */
export const HOST_KID = "host";

const ENTRY = /^([A-Za-z0-9_-]{1,32}):([\x21-\x2b\x2d-\x7e]{32,512})$/;

/**
 * The keys of a `--token-keys` list, `KID:SECRET[,KID:SECRET…]`. Throws a plain Error that continues a sentence beginning
 * with the setting's name, and never repeats a secret.
 */
export function parseTokenKeys(text: string): [TokenKey, ...TokenKey[]] {
  const kids = new Set([HOST_KID]);
  const keys = text.split(",").map((entry, i): TokenKey => {
    const [, kid, secret] = ENTRY.exec(entry.trim()) ?? [];
    if (kid === undefined || secret === undefined) {
      throw new Error(
        `must look like KID:SECRET,KID:SECRET with secrets of 32 characters or more; entry ${i + 1} does not`,
      );
    }
    if (kids.has(kid)) throw new Error(`must name each key once, and none "${HOST_KID}"; entry ${i + 1} does not`);
    kids.add(kid);
    return { kid, secret };
  });
  return keys as [TokenKey, ...TokenKey[]];
}
