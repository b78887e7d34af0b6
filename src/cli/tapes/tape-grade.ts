import { type Plain, printPlain } from "../../formats/json/print-plain.ts";
import { type GradedBy, type GradedRow, gradesOf, VerdictRows } from "../../formats/tapes/grade.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_GRADE_FLAGS } from "./commands/patterns.ts";
import { watchedBytes } from "./files/file-bytes.ts";
import { loadEach, sidecarFiles, skippedJson, tapeBeside } from "./files/sidecar-files.ts";
import { gradesText } from "./text/grades-text.ts";
import { tapeHeaderIfThere } from "./text/tape-header.ts";

export async function tapeGrade({ args, flags, json, io }: Call<typeof TAPE_GRADE_FLAGS>): Promise<number> {
  const [path = ""] = args;
  const { paths } = await sidecarFiles(path);
  const by = (flags.by ?? "persona") as GradedBy;
  const verdicts: GradedRow[] = [];
  const skipped = await loadEach(paths, { skipBroken: flags.skipBroken, io }, async (file) => {
    const rows = new VerdictRows();
    const header = await readSidecar(file, watchedBytes(file, io), (row) => rows.add(row));
    const tape = tapeBeside(file);
    const recorded = tape === file ? undefined : await tapeHeaderIfThere(tape);
    const persona = recorded?.script_path ?? header.tape_path;
    for (const verdict of rows.verdicts({ path: file, tape, persona })) verdicts.push(verdict);
  });
  const grades = gradesOf(verdicts, by);
  if (json) io.out(printPlain({ by, ...grades, skipped: skippedJson(skipped) } as unknown as Plain));
  else if (verdicts.length > 0) io.out(gradesText(grades, by, io.paint));
  else io.out(`Nothing to grade: there are no rows that say correct or incorrect in ${printable(path)}.`);
  return skipped.length === 0 ? EXIT.fine : EXIT.invalid;
}
