import type { TrustedRelay } from "../../engine/gates/relayed-voter.ts";

/** Reads `TENANT/PRINCIPAL,…`. A principal alone would be trusted in every tenant, where others may take its name. */
export function parseTrustedRelays(list: string): TrustedRelay[] {
  const entries = list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  return entries.map((entry) => {
    const [tenant = "", principal = "", ...more] = entry.split("/");
    if (tenant === "" || principal === "" || more.length > 0) {
      throw new Error(`must be a list of TENANT/PRINCIPAL such as acme/chat-bridge, not ${JSON.stringify(entry)}`);
    }
    return { tenant, principal };
  });
}
