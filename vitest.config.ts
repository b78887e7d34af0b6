import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // The long form tries on PostgreSQL too what is above the engine, where the databases are out of sight.
    exclude: process.env["ASSAY_TEST_ALL"] === "1" ? [] : ["test/conformance/postgres.test.ts"],
    // Files share their modules: loading them anew for each file took a quarter of the time. So a test leaves no module
    // changed behind, and hooks of helpers are in the setup file.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    globalSetup: "test/global-setup.ts",
    setupFiles: ["test/each-file.ts"],
    // Generous, because a busy machine is not a failure; speed is measured by the benchmarks.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
  },
});
