import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const VECTORS = fileURLToPath(new URL("vectors", import.meta.url));

/** A directory with files, and what commands must make of them. Paths are relative to it, since messages repeat them. */
export interface Case {
  readonly name: string;
  readonly folder: string;
  readonly steps: readonly Step[];
}

export type Step = StepExpectation & {
  readonly op: string;
  readonly tape?: string;
  readonly sidecar?: string;
  readonly label?: string;
  readonly format?: string;
  readonly kinds?: readonly string[];
  readonly options?: { readonly min_occurrences: number; readonly owner: string | null };
};

interface StepExpectation {
  readonly exit?: number;
  readonly value?: string;
  readonly report?: string;
  readonly output?: string;
  readonly ignore?: readonly string[];
  readonly error?: StepError;
}

export interface StepError {
  readonly code: string;
  readonly line?: number;
  /** The whole line, or how it begins. */
  readonly message?: string;
  readonly message_prefix?: string;
}

export const CASES: readonly Case[] = readdirSync(VECTORS)
  .sort()
  .map((name) => {
    const folder = join(VECTORS, name);
    return { ...JSON.parse(readFileSync(join(folder, "case.json"), "utf8")), folder } as Case;
  });
