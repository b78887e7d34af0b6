import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../engine/host.ts";
import { type LoadedSuite, loadSuite, type UsableSuite } from "../../evals/suite/load-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { isNewHostWide, keepHostWide } from "../../evals/suite/suite-store.ts";
import { AppError } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import type { SkippedFile } from "./workflow-files.ts";

export interface CheckedSuites {
  /** Those that are not there yet. */
  readonly suites: readonly UsableSuite[];
  /** What cannot be kept, with the first thing that is wrong with it. */
  readonly skipped: readonly SkippedFile[];
}

/** Looks at every `*.json` of the folders. */
export async function checkSuiteFiles(host: Host, folders: readonly string[]): Promise<CheckedSuites> {
  const skipped: SkippedFile[] = [];
  const seen = new Map<string, { readonly file: string; readonly sha256: string }>();
  const suites: UsableSuite[] = [];
  for (const file of folders.flatMap(filesIn)) {
    try {
      const loaded = usable(loadSuite(readFileSync(file), { scrubber: host.scrubber }));
      const ref = refText(loaded.suite);
      const other = seen.get(ref);
      if (other !== undefined && other.sha256 !== loaded.sha256) throw new Error(`${other.file} is ${ref} too`);
      if (other !== undefined) continue;
      seen.set(ref, { file, sha256: loaded.sha256 });
      if (await isNewHostWide(host, loaded)) suites.push(loaded);
    } catch (error) {
      if (!(error instanceof Error) || (error instanceof AppError && error.code !== "suite_conflict")) throw error;
      skipped.push({ file, reason: printable(error.message.replace(/\.$/, "")) });
    }
  }
  return { suites, skipped };
}

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
    return names.sort().map((name) => join(folder, name));
  } catch (error) {
    throw new AppError("unusable_input", { problem: `--suites cannot be read: ${(error as Error).message}` });
  }
}

function usable(loaded: LoadedSuite): UsableSuite {
  if (loaded.ok) return loaded;
  const [first] = loaded.problems.filter(({ severity }) => severity === "error");
  const at = first?.line === undefined ? "" : ` (line ${first.line}, column ${first.column})`;
  const more = loaded.errors > 1 ? `; ${loaded.errors - 1} more: assay suite validate lists them` : "";
  throw new Error(`${first?.path || "the suite"} ${first?.problem ?? "is not valid"}${at}${more}`);
}

export async function keepSuites(host: Host, suites: readonly UsableSuite[]): Promise<void> {
  for (const suite of suites) await keepHostWide(host, suite);
}
