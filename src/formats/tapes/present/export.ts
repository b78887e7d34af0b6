import { FileError } from "../../text/file-error.ts";
import { isRowKind, printExportedRow, ROW_KINDS, type Row, type RowKind } from "../sidecar/sidecar.ts";
import { type FrictionSource, frictionOf, printFrictionEvent } from "./friction.ts";

export const EXPORT_FORMATS = ["jsonl", "friction"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportChoice {
  /** Every kind when there are none, unknown ones included. */
  readonly kinds: ReadonlySet<RowKind>;
  readonly format: ExportFormat;
}

/** Checks the words of a request, kinds before the format. `path` is the sidecar they were given for, which has not been opened yet. */
export function exportChoice(path: string, kinds: readonly string[], format: string | undefined): ExportChoice {
  return { kinds: new Set(kinds.map((word) => kindNamed(word, path))), format: formatNamed(format, path) };
}

function kindNamed(word: string, path: string): RowKind {
  if (isRowKind(word)) return word;
  const message = `unknown annotation kind '${word}' (expected one of ${ROW_KINDS.join(", ")})`;
  throw new FileError("unknown_kind_filter", path, message);
}

/** Scripts hand on variables that may be empty. */
function formatNamed(word: string | undefined, path: string): ExportFormat {
  if (word === undefined || word === "") return "jsonl";
  const format = EXPORT_FORMATS.find((one) => one === word);
  if (format !== undefined) return format;
  throw new FileError("bad_format", path, `--format must be \`jsonl\` or \`friction\`, got \`${word}\``);
}

export function isSelected({ kinds }: ExportChoice, row: Row): boolean {
  return kinds.size === 0 || kinds.has(row.kind);
}

/** The line of a selected row, without its end; undefined when this format cannot express it. */
export function exportedLine(row: Row, format: ExportFormat, source: FrictionSource): string | undefined {
  if (format === "jsonl") return printExportedRow(row);
  const event = frictionOf(row, source);
  return event && printFrictionEvent(event);
}
