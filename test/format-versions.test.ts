import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { EVAL_RESULT_VERSION } from "../src/formats/evals/eval-json.ts";
import { BUNDLE_VERSION } from "../src/formats/tapes/bundle.ts";
import { PROCESS_TAPE_VERSION } from "../src/formats/tapes/process-tape.ts";
import { SIDECAR_VERSION } from "../src/formats/tapes/sidecar/sidecar.ts";
import { TAPE_VERSION } from "../src/formats/tapes/tape.ts";
import { BASELINE_FILE_VERSION } from "../src/protocol/evals/baselines.ts";
import { JUDGE_INPUT_VERSION } from "../src/protocol/evals/judge-api.ts";
import { JUDGMENT_VERSION } from "../src/protocol/judgments/judgment-file.ts";
import { BACKUP_FORMAT } from "../src/store/backup/backup.ts";

/** The version that this Assay writes, by the page that describes the file. */
const WRITTEN: Readonly<Record<string, number>> = {
  "backup.md": BACKUP_FORMAT,
  "eval-baseline.md": BASELINE_FILE_VERSION,
  "eval-result.md": EVAL_RESULT_VERSION,
  "judge.md": JUDGE_INPUT_VERSION,
  "judgments.md": JUDGMENT_VERSION,
  "process-tape.md": PROCESS_TAPE_VERSION,
  "sidecar.md": SIDECAR_VERSION,
  "tape-bundle.md": BUNDLE_VERSION,
  "tape.md": TAPE_VERSION,
};

/** Pages about a protocol of others: its version is not counted here. */
const OF_OTHERS = ["afp.md"];

const folder = new URL("../docs/formats/", import.meta.url);
const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));

/** What a page says about versions: one section for every version after the first, "Changes from v<previous>". */
function describedBy(page: string): number[] {
  const sections = [...page.matchAll(/^#+ Changes from v(\d+)\s*$/gm)].map(([, previous]) => Number(previous) + 1);
  return [1, ...sections.sort((a, b) => a - b)];
}

function upTo(version: number): number[] {
  return Array.from({ length: version }, (_, i) => i + 1);
}

describe("the pages about formats", () => {
  test("are those of the files that have a version", () => {
    expect(pages.sort()).toEqual([...Object.keys(WRITTEN), ...OF_OTHERS].sort());
  });

  test.each(Object.entries(WRITTEN))("%s says what changed up to version %i, and no further", (name, version) => {
    expect(describedBy(readFileSync(new URL(name, folder), "utf8"))).toEqual(upTo(version));
  });

  test("are told from pages that lag behind, run ahead or leave a version out", () => {
    const page = (...previous: number[]) => previous.map((v) => `# T\n\n## Changes from v${v}\n\ntext\n`).join("");
    expect(describedBy(page())).toEqual(upTo(1));
    expect(describedBy(page(2, 1))).toEqual(upTo(3));
    expect(describedBy(page())).not.toEqual(upTo(2));
    expect(describedBy(page(1))).not.toEqual(upTo(1));
    expect(describedBy(page(2))).not.toEqual(upTo(3));
    expect(describedBy("in a sentence: Changes from v1")).toEqual(upTo(1));
  });
});
