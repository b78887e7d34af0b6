// @ts-check
// npm run test:all: everything that protects behaviour, in its long form. `npm test` with the tests over HTTP on both databases, the attacks and the
// crash tests with more rounds, and `npm test` once more on each other Node that is installed as node20, node22 or node24, or that OTHER_NODES
// names (paths with ":" between them). Takes about an hour and a half on two cores. Ends at the first step that fails.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

step(process.execPath, ["test/run.js"], { ASSAY_TEST_ALL: "1" });
step(process.execPath, ["test/hostile/run.js", "--rounds", "10"]);
for (const scenario of ["sqlite", "postgres", "database"])
  step(process.execPath, ["test/torture/run.js", "--scenario", scenario, "--rounds", "40"]);
step(process.execPath, ["test/torture/agents/run.js", "--rounds", "8"]);
step(process.execPath, ["test/reviews/torture/run.js", "--rounds", "50"]);
for (const node of otherNodes()) step(node, ["test/run.js", "src", "test"]);
console.log("All steps passed.");

/**
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} [env]
 */
function step(command, args, env = {}) {
  console.log(`\n▶ ${[command, ...args].join(" ")}`);
  const { status } = spawnSync(command, args, { stdio: "inherit", env: { ...process.env, ...env } });
  if (status === 0) return;
  console.log(`Failed: ${[command, ...args].join(" ")}`);
  process.exit(1);
}

function otherNodes() {
  const named = process.env["OTHER_NODES"];
  if (named !== undefined) return named.split(delimiter).filter((path) => path !== "");
  const major = process.versions.node.split(".")[0];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return ["20", "22", "24"]
    .filter((version) => version !== major)
    .flatMap((version) =>
      folders
        .map((folder) => join(folder, `node${version}`))
        .filter(existsSync)
        .slice(0, 1),
    );
}
