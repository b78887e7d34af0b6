// @ts-check
// node bench/tape-process.js SUBJECT TAPE SIDECAR: one pass over a sidecar in a process of its own, so that its memory can be told.
import { createReadStream } from "node:fs";

const PIECE_BYTES = 1 << 20;
const NEWLINE = 10;
const MB = 2 ** 20;

const [subject, tape = "", sidecar = ""] = process.argv.slice(2);

/** @param {string} path */
function pieces(path) {
  return createReadStream(path, { highWaterMark: PIECE_BYTES });
}

/** The least that any reader of such a file does. */
async function bare() {
  let rows = 0;
  let rest = Buffer.alloc(0);
  for await (const piece of pieces(sidecar)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      JSON.parse(bytes.toString("utf8", start, end));
      rows += 1;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  return rows - 1;
}

async function prepareValidate() {
  const { isUtf8 } = await import("node:buffer");
  const { readTapeFacts } = await import("../dist/formats/tapes/tape-facts.js");
  const { validateSidecar } = await import("../dist/formats/tapes/validate/validate.js");
  const startedMs = performance.now();
  const facts = await readTapeFacts(tape, pieces(tape), { isUtf8 });
  const tapeMs = performance.now() - startedMs;
  return { tapeMs, run: async () => (await validateSidecar(sidecar, pieces(sidecar), facts, { isUtf8 })).checked };
}

/** What validating would be without the fast path. */
async function prepareExact() {
  const { readTapeFacts } = await import("../dist/formats/tapes/tape-facts.js");
  const { readSidecar } = await import("../dist/formats/tapes/sidecar/read-sidecar.js");
  const { Validation } = await import("../dist/formats/tapes/validate/validate.js");
  const facts = await readTapeFacts(tape, pieces(tape));
  const run = async () => {
    const validation = await Validation.start(facts);
    const header = await readSidecar(sidecar, pieces(sidecar), (row, line) => validation.row(row, line));
    return validation.end(header, 1).checked;
  };
  return { tapeMs: 0, run };
}

const { run, tapeMs } =
  subject === "bare"
    ? { run: bare, tapeMs: 0 }
    : subject === "validate"
      ? await prepareValidate()
      : await prepareExact();
const beforeMb = process.memoryUsage.rss() / MB;
const cpu = process.cpuUsage();
const startedMs = performance.now();
const rows = await run();
const ms = performance.now() - startedMs;
const { user, system } = process.cpuUsage(cpu);
const cpuMs = (user + system) / 1000;
const peakMb = process.resourceUsage().maxRSS / 1024;
console.log(JSON.stringify({ rows, ms, cpuMs, tapeMs, beforeMb, peakMb }));
