// @ts-check
/**
 * @typedef {import("vitest/node").TestModule} TestModule
 * @typedef {import("vitest/node").TestSuite} TestSuite
 */

/** A Vitest reporter that prints nothing: it counts tests and adds up the time of each top folder. */
export class FolderTimes {
  passed = 0;
  failed = 0;
  skipped = 0;
  /** @type {Map<string, number>} milliseconds by folder; files run side by side, so the sum exceeds the wall time */
  durations = new Map();

  /**
   * @param {readonly TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    this.failed += unhandledErrors.length;
    for (const module of modules) {
      this.#count(module);
      const folder = topFolder(module.relativeModuleId);
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      this.durations.set(folder, (this.durations.get(folder) ?? 0) + collectDuration + setupDuration + duration);
    }
  }

  /** @param {TestModule} module */
  #count(module) {
    // A file that does not load and a hook that throws are failures, though no test carries them.
    this.failed += module.errors().length;
    for (const suite of module.children.allSuites()) this.failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") this.passed++;
      else if (state === "failed") this.failed++;
      else this.skipped++;
    }
  }

  /** The folders in the order of the tree, one per line. */
  table() {
    const rows = [...this.durations].sort(([a], [b]) => (a < b ? -1 : 1));
    const width = Math.max(...rows.map(([folder]) => folder.length));
    return rows.map(([folder, ms]) => `${folder.padEnd(width)}  ${formatSeconds(ms).padStart(8)}`).join("\n");
  }
}

/**
 * `src/store/sqlite/append.test.ts` belongs to `src/store`, `src/architecture.test.ts` to `src`.
 * @param {string} path
 */
function topFolder(path) {
  return path.split("/").slice(0, -1).slice(0, 2).join("/");
}

/** @param {number} ms */
export function formatSeconds(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}
