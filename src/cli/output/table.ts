import type { Paint } from "./io.ts";

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

/** Names on the left, values on the right; what is undefined is left out. */
export function formatFields(fields: Readonly<Record<string, string | undefined>>, paint: Paint): string {
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
