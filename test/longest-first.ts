import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest on the clock, by the beginning of their path. */
const LONGEST = [
  "test/hostile/",
  "test/torture/",
  "src/store/contract.",
  "test/conformance/",
  "test/eval-interrupt.",
  "test/evals-guide.",
  "test/plan-memory.",
  "test/family-memory.",
  "test/tape-memory.",
  "test/body-memory.",
  "test/run-memory.",
  "test/build.",
  "src/formats/secrets/scrub-hostile.",
  "src/store/backup/",
];

/**
 * Starts the longest files first, so that none of them is left alone at the end. Vitest itself goes by the time of the last run, and by the size of
 * files where there was none, as in a fresh checkout.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

function isLong({ moduleId, project }: TestSpecification): boolean {
  const path = moduleId.slice(project.config.root.length + 1);
  return LONGEST.some((start) => path.startsWith(start));
}
