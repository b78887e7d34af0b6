import { describe, expect, test } from "vitest";
import { aRecord } from "../../testing/tape-files.ts";
import { isBodyHash, referencedBodies } from "./bodies.ts";
import type { RecordKind } from "./tape.ts";

const stored = (content_hash: string) => ({ content_hash, len_bytes: 1n });
const inline = (content_hash: string) => ({ content_hash, text: "" });

describe("the bodies that a record refers to", () => {
  test.each<[RecordKind, string[]]>([
    [{ kind: "llm_call", request_digest: "r", response: stored("a") }, ["a"]],
    [{ kind: "decision_evaluation", request_digest: "r", response: stored("a") }, ["a"]],
    [{ kind: "llm_call", request_digest: "r", response: inline("a") }, []],
    [
      {
        kind: "process_spawn",
        program: "p",
        args: [],
        cwd: null,
        exit_code: 0n,
        duration_ms: 0n,
        stdout_payload: stored("a"),
        stderr_payload: stored("a"),
      },
      ["a", "a"],
    ],
    [
      {
        kind: "mcp_json_rpc",
        server: "s",
        method: "m",
        request_digest: "r",
        response_digest: "r",
        latency_ms: 0n,
        request_payload: inline("a"),
        response_payload: stored("b"),
      },
      ["b"],
    ],
    [
      {
        kind: "model_job",
        job_id: "",
        request_id: "",
        backend: "",
        state: "",
        event_kind: "",
        event: stored("a"),
        asset_digests: ["b"],
      },
      ["a"],
    ],
    [{ kind: "file_write", path: "p", content_hash: "a", len_bytes: 1n }, []],
    [{ kind: "unknown" }, []],
  ])("of %o are those of its stored payloads", (kind, hashes) => {
    expect([...referencedBodies(aRecord({ kind }))]).toEqual(hashes);
  });

  test("have names that cannot lead anywhere else", () => {
    expect(isBodyHash("0123456789abcdef".repeat(4))).toBe(true);
    for (const name of ["", "../secret", "A".repeat(64), "a".repeat(63), "a".repeat(65), `${"a".repeat(64)}\n`]) {
      expect(isBodyHash(name)).toBe(false);
    }
  });
});
