// @ts-check
// npm run test:opencode: fetches the real command from npm and compares it with what is here. OPENCODE=/path/to/opencode takes one
// that is there already, OPENCODE_VERSION another version.
import { fileURLToPath } from "node:url";
import { startVitest } from "vitest/node";

const vitest = await startVitest("test", [], {
  root: fileURLToPath(new URL("../..", import.meta.url)),
  config: false,
  include: ["test/opencode/*.check.ts"],
  run: true,
  watch: false,
});
await vitest.close();
process.exit(process.exitCode);
