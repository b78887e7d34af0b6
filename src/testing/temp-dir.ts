import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of all temporary files, which `test/global-setup.ts` makes and removes. */
    testFolder: string;
  }
}

/** Makes an empty directory that is removed when the test run has ended. */
export function tempDir(): string {
  return mkdtempSync(join(inject("testFolder"), "t-"));
}
