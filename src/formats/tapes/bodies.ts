import { isStored, type Payload } from "./payload.ts";
import type { RecordKind, TapeRecord } from "./tape.ts";

/** The hashes of the record's bodies outside the tape, in the order of its members, with repeats. */
export function* referencedBodies({ kind }: TapeRecord): Generator<string> {
  for (const payload of payloadsOf(kind)) if (isStored(payload)) yield payload.content_hash;
}

function payloadsOf(kind: RecordKind): readonly Payload[] {
  switch (kind.kind) {
    case "llm_call":
    case "decision_evaluation":
      return [kind.response];
    case "process_spawn":
      return [kind.stdout_payload, kind.stderr_payload];
    case "mcp_json_rpc":
      return [kind.request_payload, kind.response_payload];
    case "model_job":
      return [kind.event];
    case "clock_read":
    case "clock_sleep":
    case "file_read":
    case "file_write":
    case "file_delete":
    case "unknown":
      return [];
  }
}

/** The form of `bodyHash`. A tape may name anything, and only such a name is looked up as a file. */
export function isBodyHash(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}
