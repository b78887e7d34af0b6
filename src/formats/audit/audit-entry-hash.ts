import { createHash } from "node:crypto";
import type { AuditEntry } from "../../protocol/audit/audit.ts";
import { canonicalJson } from "../json/canonical-json.ts";

/** The hash of an entry is taken over all of its content, the previous hash included. */
export function entryHash(entry: AuditEntry): string {
  return createHash("sha256").update(canonicalJson(entry)).digest("hex");
}
