import type { Colour, Io, Paint } from "./io.ts";
import { printable } from "./printable.ts";

/** Aligned columns with a heading. The last column is not padded, so that lines do not end in spaces. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const widths = headings.map((heading, i) =>
    rows.reduce((widest, row) => Math.max(widest, width(row[i] ?? "")), width(heading)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === headings.length - 1 ? cell : pad(cell, widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [paint.dim(line(headings)), ...rows.map(line)].join("\n");
}

/** The first of some lines, and last how many are left out. */
export function firstLines(
  lines: readonly string[],
  most: number,
  rest = (left: number) => `and ${left} more`,
): readonly string[] {
  return lines.length > most ? [...lines.slice(0, most), rest(lines.length - most)] : lines;
}

type Fields = Readonly<Record<string, string | undefined>>;

/** The same fields with printable values, for foreign text without colours. */
export function printableFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value && printable(value)]));
}

/** Names on the left, values on the right; a name without a value is left out. */
export function formatFields(fields: Fields, paint: Paint): string {
  const present = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const longest = Math.max(0, ...present.map(([name]) => width(name)));
  return present.map(([name, value]) => `${paint.dim(pad(name, longest))}  ${value}`).join("\n");
}

function pad(text: string, to: number): string {
  return text + " ".repeat(Math.max(0, to - width(text)));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no room.
const COLOURS = /\u001b\[\d+m/g;

function width(text: string): number {
  return text.replace(COLOURS, "").length;
}

interface ListStyle<T> {
  readonly headings: readonly string[];
  readonly row: (item: T) => readonly string[];
  /** Printed on standard error instead of a table without rows. */
  readonly empty?: string;
  /** The number of items asked for, where there may be more than those. */
  readonly limit?: number;
}

/** Prints a list: as a table, or the whole answer as JSON. */
export function printList<T>(
  { io, json }: { readonly io: Io; readonly json: boolean },
  items: readonly T[],
  answer: object,
  { headings, row, empty, limit }: ListStyle<T>,
): void {
  if (json) io.out(JSON.stringify(answer));
  else if (items.length === 0 && empty !== undefined) io.err(empty);
  else io.out(formatTable(headings, items.map(row), io.paint));
  const isPart = "nextCursor" in answer && answer.nextCursor !== undefined;
  if (!json && limit !== undefined && isPart) hintAtMore(io, limit);
}

export function hintAtMore(io: Io, limit: number): void {
  if (io.outIsTerminal) io.err(`There are more; show them with --limit ${limit * 5}.`);
}

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  completed: "green",
  failed: "red",
  cancelled: "yellow",
  cancelling: "yellow",
  paused: "yellow",
  skipped: "dim",
};

/** The status of a run or a node; cyan while it is active. */
export function paintStatus(status: string, paint: Paint): string {
  return paint[STATUS_COLOURS[status] ?? "cyan"](status);
}
