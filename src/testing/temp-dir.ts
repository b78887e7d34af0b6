import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const created: string[] = [];

// Registered on import, so that it belongs to the test file and `tempDir` can be called anywhere in it.
afterAll(() => {
  for (const path of created) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
});

/** Makes an empty directory that is removed when the test file has ended. */
export function tempDir(): string {
  const path = mkdtempSync(join(tmpdir(), "assay-test-"));
  created.push(path);
  return path;
}
