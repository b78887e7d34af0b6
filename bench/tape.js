// @ts-check
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median, ratios, spread } from "./statistics.js";
import { writeSidecar, writeTape } from "./tape-files.js";

const BAR = 0.5;
const MEMORY_BAR_MB = 100;

/**
 * Validating a long sidecar against what any reader of such a file does at least: cut it at line feeds and parse every line.
 * @param {import("./sections.js").Bench} bench
 * @returns {Promise<import("./sections.js").Finding>}
 */
export async function validating({ laboratory, pace }) {
  const isQuick = pace.rounds < 3;
  const rows = isQuick ? 200_000 : 1_000_000;
  const events = rows / 5;
  const tape = join(laboratory.folder, "run.tape");
  const sidecar = `${tape}.annotations.jsonl`;
  await writeTape(tape, events);
  await writeSidecar(sidecar, rows, events);

  /** @type {Record<string, { ms: number[], cpuMs: number[], tapeMs: number[], growthMb: number[] }>} */
  const data = {};
  const subjects = ["bare", "validate", "exact"];
  for (let round = 0; round < pace.rounds; round++) {
    for (let i = 0; i < subjects.length; i++) {
      const subject = /** @type {string} */ (subjects[(i + round) % subjects.length]);
      // The slow one is there to compare with; two rounds tell enough.
      if (subject === "exact" && round >= 2) continue;
      const found = runOnce(subject, tape, sidecar);
      if (found.rows !== rows) throw new Error(`${subject} saw ${found.rows} of ${rows} rows`);
      const into = data[subject] ?? { ms: [], cpuMs: [], tapeMs: [], growthMb: [] };
      data[subject] = into;
      into.ms.push(found.ms);
      into.cpuMs.push(found.cpuMs);
      into.tapeMs.push(found.tapeMs);
      into.growthMb.push(found.peakMb - found.beforeMb);
    }
  }

  const bytes = statSync(sidecar).size;
  const ids = await idBytes(rows);
  const { bare, validate } = data;
  if (bare === undefined || validate === undefined) throw new Error("nothing was measured");
  const names = {
    bare: "bare JSON.parse loop",
    validate: "assay tape validate",
    exact: "every row by the exact reader",
  };
  const table = Object.entries(data).map(([subject, { ms, cpuMs, growthMb }]) => [
    names[/** @type {keyof typeof names} */ (subject)],
    spread(ms),
    spread(ms.map((one) => bytes / 1000 / one)),
    spread(ratios(bare.ms.slice(0, ms.length), ms), 2),
    spread(cpuMs),
    spread(growthMb),
  ]);
  const speed = median(ratios(bare.ms, validate.ms));
  const beyondMb = median(validate.growthMb) - ids.totalMb;
  return {
    title: "Validate a sidecar",
    note:
      `${rows.toLocaleString("en-US")} rows, ${Math.round(bytes / 1e6)} MB, one process for each pass. The tape of ` +
      `${events.toLocaleString("en-US")} events takes ${spread(validate.tapeMs)} ms before that. The ids take ${ids.totalMb.toFixed(0)} MB ` +
      `(${ids.each.toFixed(0)} bytes each); memory beyond them grows by ${beyondMb.toFixed(0)} MB.`,
    table: [["", "ms", "MB/s", "speed, bare loop = 1", "CPU ms", "memory growth MB"], ...table],
    data: { rows, bytes, idMb: ids.totalMb, ...data },
    problems: [
      ...(speed < BAR ? [`validating has ${speed.toFixed(2)} of the speed of the bare loop; ${BAR} is wanted`] : []),
      ...(beyondMb > MEMORY_BAR_MB ? [`memory grows by ${beyondMb.toFixed(0)} MB beyond the ids`] : []),
    ],
  };
}

/**
 * @param {string} subject
 * @param {string} tape
 * @param {string} sidecar
 * @returns {{ rows: number, ms: number, cpuMs: number, tapeMs: number, beforeMb: number, peakMb: number }}
 */
function runOnce(subject, tape, sidecar) {
  const script = fileURLToPath(new URL("tape-process.js", import.meta.url));
  return JSON.parse(execFileSync(process.execPath, [script, subject, tape, sidecar], { encoding: "utf8" }));
}

/**
 * What the ids of such a file take.
 * @param {number} rows
 */
async function idBytes(rows) {
  const { IdSet } = await import("../dist/formats/tapes/validate/id-set.js");
  const ids = await IdSet.start();
  for (let i = 0; i < rows; i++) ids.addText(`ann_${i.toString(36).padStart(8, "0")}`);
  return { totalMb: ids.sizeBytes / 2 ** 20, each: ids.sizeBytes / ids.size };
}
