import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    isolate: false,
    globalSetup: "test/global-setup.ts",
    // Generous, because a busy machine is not a failure; speed is measured by the benchmarks.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
  },
});
