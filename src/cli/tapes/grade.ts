import { type Plain, printPlain } from "../../formats/json/print-json.ts";
import {
  type Dispute,
  GRADERS,
  type Grade,
  type GradedBy,
  type GradedRow,
  type GradeFigures,
  type Grades,
  gradesOf,
  VerdictRows,
} from "../../formats/tapes/grade.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { formatCount, formatShare } from "../output/amount.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { firstLines, formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_GRADE_FLAGS } from "./compare-commands.ts";
import { loadEach, sidecarFiles, skippedJson, tapeOf } from "./files/find-files.ts";
import { isThere, tapeHeader, watchedBytes } from "./files/tape-files.ts";

export async function tapeGrade({ args, flags, json, io }: Call<typeof TAPE_GRADE_FLAGS>): Promise<number> {
  const [path = ""] = args;
  const { paths } = await sidecarFiles(path);
  const by = (flags.by ?? "persona") as GradedBy;
  const verdicts: GradedRow[] = [];
  const skipped = await loadEach(paths, { skipBroken: flags.skipBroken, io }, async (file) => {
    const rows = new VerdictRows();
    const header = await readSidecar(file, watchedBytes(file, io), (row) => rows.add(row));
    const tape = tapeOf(file);
    const recorded = tape !== file && (await isThere(tape)) ? await tapeHeader(tape) : undefined;
    const persona = recorded?.script_path ?? header.tape_path;
    for (const verdict of rows.verdicts({ path: file, tape, persona })) verdicts.push(verdict);
  });
  const grades = gradesOf(verdicts, by);
  if (json) io.out(printPlain({ by, ...grades, skipped: skippedJson(skipped) } as unknown as Plain));
  else if (verdicts.length > 0) io.out(gradesText(grades, by, io.paint));
  else io.out(`Nothing to grade: there are no rows of kind correct or incorrect in ${printable(path)}.`);
  return skipped.length === 0 ? EXIT.fine : EXIT.invalid;
}

const LISTED_MAX = 20;

/** Grades as text: a table, the events that were judged both ways, and the number of muted ones. */
function gradesText({ total, groups }: Grades, by: GradedBy, paint: Paint): string {
  const rows = groups.flatMap((group) => rowsOf(group, group.of === null ? `(no ${by})` : printable(group.of)));
  if (groups.length > 1) rows.push(...rowsOf(total, "all"));
  const headings = [by.toUpperCase(), "CORRECT", "INCORRECT", "RATE", "95 %", "DISPUTED", "MUTED", "JUDGMENTS"];
  const parts = [formatTable(headings, rows, paint)];
  if (total.disputes.length > 0)
    parts.push(["Judged both ways, and counted in no rate:", ...disputed(total.disputes)].join("\n"));
  if (total.muted > 0) parts.push(`${formatCount(total.muted, "judged event")} muted, and left out.`);
  return parts.join("\n\n");
}

/** The rows of a grade: one for each kind of author where there are several. */
function rowsOf({ byAuthorKind, ...all }: Grade, name: string): string[][] {
  const kinds = GRADERS.flatMap((kind) => {
    const figures = byAuthorKind[kind];
    return figures === undefined ? [] : [{ kind, figures }];
  });
  const [only] = kinds;
  if (kinds.length === 1 && only !== undefined) return [cells(`${name}, ${AUTHORS[only.kind]}`, all)];
  return [cells(name, all), ...kinds.map(({ kind, figures }) => cells(`  ${AUTHORS[kind]}`, figures))];
}

const AUTHORS: Readonly<Record<(typeof GRADERS)[number], string>> = {
  human: "by people",
  agent: "by agents",
  system: "by systems",
  unstated: "author unstated",
};

function cells(name: string, figures: GradeFigures): string[] {
  const { correct, incorrect, rate, interval, disputed, muted, judgments } = figures;
  return [
    name,
    String(correct),
    String(incorrect),
    rate === null ? "-" : formatShare(rate),
    interval === null ? "-" : `${formatShare(interval.low)} to ${formatShare(interval.high)}`,
    String(disputed),
    String(muted),
    String(judgments),
  ];
}

function disputed(disputes: readonly Dispute[]): readonly string[] {
  const lines = disputes.map(({ path, eventId, correct, incorrect }) => {
    return `  ${printable(path)} event ${eventId}: correct says ${names(correct)}, incorrect says ${names(incorrect)}`;
  });
  return firstLines(lines, LISTED_MAX, (left) => `  and ${left} more`);
}

function names(rows: readonly string[]): string {
  return rows.map(printable).join(", ");
}
