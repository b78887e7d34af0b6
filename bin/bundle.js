// @ts-check
// Joins the compiled modules and the packages they use into a few files: node bin/bundle.js OUT
//
// A bundled host starts in less than half the time and takes about 30 MB less memory (docs/performance.md). Only the program of
// `bin/assay.js` is bundled; tests and benchmarks use the modules, except for threads, which are started by their file.
//
// Bundled packages are in `devDependencies`, so that an installed Assay depends on one package with native code only. Their licences require
// a copy: they are written next to the bundle, with names and versions for audits.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { writeNotices } from "./notices.js";

const out = process.argv[2];
if (!out) throw new Error("usage: node bin/bundle.js OUT");

const bundle = await rolldown({
  // Names in the result are relative to this folder, and do not depend on its name.
  cwd: out,
  input: {
    main: join(out, "cli", "main.js"),
    // What the package exports.
    local: join(out, "cli", "local.js"),
    // Started by its file name: see store/sqlite/writer.ts.
    "writer-thread": join(out, "store", "sqlite", "writer-thread.js"),
    // Likewise, see engine/schemas/schema-checks.ts.
    "schema-thread": join(out, "engine", "schemas", "schema-thread.js"),
    // Likewise, see engine/secrets/long-scrubs.ts.
    "scrub-thread": join(out, "engine", "secrets", "scrub-thread.js"),
    // Likewise, see cli/wiring/review-on.ts.
    "turn-thread": join(out, "cli", "wiring", "turn-thread.js"),
  },
  platform: "node",
  // Native code is not bundled; pg-native is an unused option of pg. The last ones are optional peers: an installation has them only
  // where agents are models or use MCP servers (agents/optional-packages.ts).
  external: ["@photostructure/sqlite", "pg-native", /^ai(\/|$)/, /^@ai-sdk\//, /^@modelcontextprotocol\/sdk(\/|$)/],
  logLevel: "warn",
  onLog(level, log, report) {
    // The known warnings of packages are harmless.
    if (log.id?.includes("node_modules") || log.code === "EVAL") return;
    report(level, log);
  },
});
const { output } = await bundle.write({
  dir: join(out, "bundle"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  // Node keeps the source in memory, so comments are removed. Line breaks stay, so that stacks are readable.
  comments: false,
});
await bundle.close();

writeNotices(output, join(out, "bundle"));
copyFileSync(join(out, "cli", "local.d.ts"), join(out, "bundle", "local.d.ts"));
