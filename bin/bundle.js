// @ts-check
// Joins the compiled modules and the packages they use into a few files: node bin/bundle.js OUT
//
// A host loads some thousand modules otherwise. Bundled, it is ready in less than half the time and takes about 30 MB
// less memory (docs/performance.md). Only what `bin/assay.js` runs is bundled; tests and benchmarks use the modules.
import { join } from "node:path";
import { rolldown } from "rolldown";

const out = process.argv[2];
if (!out) throw new Error("usage: node bin/bundle.js OUT");

const bundle = await rolldown({
  input: {
    main: join(out, "cli", "main.js"),
    // Started by its file name, see store/sqlite/write-connection.ts.
    "writer-thread": join(out, "store", "sqlite", "writer-thread.js"),
  },
  platform: "node",
  // Native code stays where it was installed; pg-native is an option of pg that we do not use.
  external: ["@photostructure/sqlite", "pg-native"],
  logLevel: "warn",
  onLog(level, log, report) {
    // Packages we do not control; what they warn about has been looked at and is harmless.
    if (log.id?.includes("node_modules") || log.code === "EVAL") return;
    report(level, log);
  },
});
await bundle.write({
  dir: join(out, "bundle"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
});
await bundle.close();
