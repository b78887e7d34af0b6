import { describe, expect, test } from "vitest";
import { aRecord } from "../../../testing/tape-files.ts";
import type { RecordKind } from "../tape.ts";
import { actionOf, isDeterministic, signatureOf } from "./trace.ts";

const body = (text: string) => ({ content_hash: "h", text });

function spawn(program: string, args: readonly string[], cwd: string | null = null): RecordKind {
  const payloads = { stdout_payload: body(""), stderr_payload: body("") };
  return { kind: "process_spawn", program, args, cwd, exit_code: 0n, duration_ms: 1n, ...payloads };
}

function rpc(method: string, request: string): RecordKind {
  const digests = { request_digest: "d", response_digest: "e", latency_ms: 1n };
  return {
    kind: "mcp_json_rpc",
    server: "gh",
    method,
    ...digests,
    request_payload: body(request),
    response_payload: body("{}"),
  };
}

function signature(kind: RecordKind): string {
  const action = actionOf(aRecord({ kind }));
  return action === undefined || action === "gap" ? String(action) : signatureOf(action);
}

describe("the signature of an action", () => {
  const file = { content_hash: "h", len_bytes: 1n };
  const job = { job_id: "j", request_id: "r", backend: "local", state: "done", event_kind: "end" };
  test.each<[string, RecordKind]>([
    ["file_read:.json:path", { kind: "file_read", path: "a/b.test.JSON", ...file }],
    ["file_write:Makefile:path", { kind: "file_write", path: "C:\\src\\Makefile", ...file }],
    ["file_delete:.env:path", { kind: "file_delete", path: "/app/.env" }],
    ["llm_call:model:request", { kind: "llm_call", request_digest: "d", response: body("x") }],
    ["decision_evaluation:model:request", { kind: "decision_evaluation", request_digest: "d", response: body("x") }],
    ["model_job:local.end:state", { kind: "model_job", ...job, event: body(""), asset_digests: [] }],
    ["process_spawn:git:", spawn("/usr/bin/git", [])],
    ["process_spawn:git:--depth,-q,args,cwd", spawn("git", ["clone", "-q", "--depth=1", "url"], "/tmp")],
    ["process_spawn:rm:-r,args", spawn("rm", ["-r", "--", "-f"])],
    ["process_spawn:cat:args", spawn("cat", ["-"])],
    [
      "mcp_json_rpc:gh.tools/list:cursor",
      rpc("tools/list", '{"jsonrpc":"2.0","method":"tools/list","params":{"cursor":"c"}}'),
    ],
    ["mcp_json_rpc:gh.ping:", rpc("ping", '{"jsonrpc":"2.0","method":"ping"}')],
    ["mcp_json_rpc:gh.tools/call.open:a,b", rpc("tools/call", '{"name":"open","arguments":{"b":1,"a":2}}')],
    ["mcp_json_rpc:gh.tools/call.open:", rpc("tools/call", '{"params":{"name":"open"}}')],
    ["mcp_json_rpc:gh.tools/call:request", rpc("tools/call", "not JSON")],
    ["mcp_json_rpc:gh.x:__proto__", rpc("x", '{"__proto__":1}')],
  ])("is %s", (expected, kind) => {
    expect(signature(kind)).toBe(expected);
  });

  test("does not look into a body that is not in the tape", () => {
    const kind = { ...rpc("tools/call", ""), request_payload: { content_hash: "h", len_bytes: 9n } } as RecordKind;
    expect(signature(kind)).toBe("mcp_json_rpc:gh.tools/call:request");
  });
});

describe("what is no action", () => {
  test("are clocks, and the clean-up after the script", () => {
    expect(signature({ kind: "clock_sleep", duration_ms: 1n })).toBe("undefined");
    expect(signature({ kind: "clock_read", source: "wall", value_ms: 1n })).toBe("undefined");
    expect(actionOf(aRecord({ phase: "runtime_finalize", kind: spawn("git", []) }))).toBeUndefined();
  });

  test("is a record of an unknown kind, which nobody may pass over", () => {
    expect(signature({ kind: "unknown" })).toBe("gap");
    expect(actionOf(aRecord({ phase: "runtime_finalize", kind: { kind: "unknown" } }))).toBeUndefined();
  });
});

test("only what a model decides may come out differently", () => {
  expect(["llm_call", "decision_evaluation", "model_job"].some((kind) => isDeterministic(kind as never))).toBe(false);
  expect(["process_spawn", "mcp_json_rpc", "file_write"].every((kind) => isDeterministic(kind as never))).toBe(true);
});
