import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { mutated } from "../../testing/random-tapes.ts";
import { pick, randomFrom } from "../../testing/random-workflow.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

/** `FUZZ_FILES=100000 FUZZ_SEED=1 npx vitest run src/cli/tapes/tape-validate-hostile.test.ts` takes its time. */
const FILES = Number(process.env["FUZZ_FILES"] ?? 100);
const FIRST_SEED = Number(process.env["FUZZ_SEED"] ?? 1);

const VECTORS = fileURLToPath(new URL("../../../test/tapes/vectors/", import.meta.url));
const CASES = readdirSync(VECTORS)
  .map((name) => ({
    tape: join(VECTORS, name, "run.tape"),
    sidecar: join(VECTORS, name, "run.tape.annotations.jsonl"),
  }))
  .filter(({ tape, sidecar }) => existsSync(tape) && existsSync(sidecar))
  .map(({ tape, sidecar }) => ({ tape: readFileSync(tape), sidecar: readFileSync(sidecar) }));

describe("files that somebody has damaged", () => {
  test("give a report or an error with its file and code, and nothing is written then", { timeout: 0 }, async () => {
    const dir = tempDir();
    const [tape, sidecar, report] = ["run.tape", "run.jsonl", "report.json"].map((name) => join(dir, name)) as [
      string,
      string,
      string,
    ];
    const counts: Record<string, number> = {};
    for (let seed = FIRST_SEED; seed < FIRST_SEED + FILES; seed++) {
      const random = randomFrom(seed);
      const files = pick(random, CASES);
      writeFileSync(tape, random() < 0.5 ? mutated(files.tape, random) : files.tape);
      writeFileSync(sidecar, random() < 0.7 ? mutated(files.sidecar, random) : files.sidecar);
      const format = pick(random, [["--json"], ["--format", "github"], ["--format", "sarif"], ["--format", "text"]]);
      const withReport = random() < 0.3 ? ["--report", report] : [];
      rmSync(report, { force: true });
      const io = recordedIo();
      const argv = ["tape", "validate", ...format, ...withReport, "--tape", tape, sidecar];
      const code = await main(argv, { io, env: {}, cwd: dir });

      expect(code, `seed ${seed}`).toBeLessThanOrEqual(2);
      expect(existsSync(report), `seed ${seed}`).toBe(withReport.length > 0 && code !== 1);
      if (format.includes("sarif")) expect(JSON.parse(io.outText()), `seed ${seed}`).toHaveProperty("runs");
      if (code === 1) {
        const [line = "", ...more] = io.errLines;
        const text = format.includes("--json") ? `error: ${JSON.parse(line).message}` : line;
        expect({ text, more }, `seed ${seed}`).toEqual({
          text: expect.stringMatching(/^error: load (tape|annotations) .*run\./s),
          more: [],
        });
        expect(text).not.toMatch(/\n\s+at /);
      }
      counts[code] = (counts[code] ?? 0) + 1;
    }
    if (process.env["FUZZ_FILES"] !== undefined)
      console.log(`seeds ${FIRST_SEED} to ${FIRST_SEED + FILES - 1}`, counts);
    // Both are only worth something when the damage is neither always fatal nor never.
    expect(counts[1]).toBeGreaterThan(FILES / 10);
    expect((counts[0] ?? 0) + (counts[2] ?? 0)).toBeGreaterThan(FILES / 10);
  });
});
