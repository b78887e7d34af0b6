// @ts-check
// npm run hostile -- --rounds 100 --seed 7
//
// Every attack of this folder in its long form, on both databases. A fault prints the request that caused it; the same
// seed sends the same requests again.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "50" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});

const root = fileURLToPath(new URL("../..", import.meta.url));
const tests = positionals.length > 0 ? positionals : ["test/hostile"];
console.log(`--rounds ${values.rounds} --seed ${values.seed}`);
const { status } = spawnSync(process.execPath, ["test/run.js", ...tests, "--maxWorkers=1"], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, HOSTILE_ROUNDS: values.rounds, HOSTILE_SEED: values.seed },
});
process.exit(status ?? 1);
