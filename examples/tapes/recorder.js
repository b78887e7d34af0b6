// @ts-check
// A small recorder: it waters a bed of the garden and writes down what it did. Any program in any language can do the same.
//
//   assay tape replay --annotations watering.tape.annotations.jsonl --process-tape processes.json -- node recorder.js
//
// ASSAY_TAPE says where the tape is to be written. ASSAY_PROCESS_TAPE, if it is there, names the subprocesses to answer in place of
// running them. docs/formats/tape.md and docs/formats/process-tape.md describe both files.
import { readFileSync, writeFileSync } from "node:fs";
import { blake3 } from "hash-wasm";

const tapePath = process.env["ASSAY_TAPE"];
if (!tapePath) {
  console.error("ASSAY_TAPE is not set: there is nowhere to write the tape");
  process.exit(2);
}

/** A clock that stands still but for what the tape tells, so that every run is the same. */
const startedAtMs = 1_767_225_600_000;
let elapsedMs = 0;

/** @type {string[]} */
const lines = [];
lines.push(
  JSON.stringify({
    type: "header",
    version: 1,
    harn_version: "example",
    started_at_unix_ms: startedAtMs,
    script_path: "recorder.js",
    argv: process.argv.slice(2),
  }),
);

/** @param {Record<string, unknown>} kind what happened */
function record(kind) {
  lines.push(
    JSON.stringify({
      type: "record",
      seq: lines.length - 1,
      phase: "user_script",
      virtual_time_ms: startedAtMs + elapsedMs,
      monotonic_ms: elapsedMs,
      kind,
    }),
  );
}

/** @param {string} text */
async function payload(text) {
  return { content_hash: await blake3(text), text };
}

const processTape = process.env["ASSAY_PROCESS_TAPE"];
/** @type {{ program: string, args?: string[], stdout?: string, stderr?: string, exit_code?: number, duration_ms?: number }[]} */
const processes = processTape ? JSON.parse(readFileSync(processTape, "utf8") || "[]") : [];

/**
 * @param {string} program
 * @param {string[]} args
 */
async function run(program, args) {
  // There is no valve on your machine, so without a subprocess tape it is taken to open at once.
  const entry = processTape ? processes.shift() : { program, args, stdout: "opened\n" };
  if (entry?.program !== program || JSON.stringify(entry.args ?? []) !== JSON.stringify(args)) {
    console.error(`the subprocess tape does not go on with ${program} ${args.join(" ")}`);
    process.exit(1);
  }
  const { stdout = "", stderr = "", exit_code = 0, duration_ms = 0 } = entry;
  elapsedMs += duration_ms;
  record({
    kind: "process_spawn",
    program,
    args,
    cwd: null,
    exit_code,
    duration_ms,
    stdout_payload: await payload(stdout),
    stderr_payload: await payload(stderr),
  });
  return stdout;
}

record({ kind: "clock_read", source: "wall", value_ms: startedAtMs });
const answer = await run("valvectl", ["open", "4"]);
elapsedMs += 250;
record({ kind: "clock_sleep", duration_ms: 250 });
const log = `bed 4: ${answer}`;
record({ kind: "file_write", path: "log.txt", content_hash: await blake3(log), len_bytes: Buffer.byteLength(log) });

writeFileSync(tapePath, `${lines.join("\n")}\n`);
console.log(`watered bed 4: ${answer.trim()}`);
