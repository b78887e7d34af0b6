/** The new side of one file in a diff. */
export interface DiffFile {
  readonly path: string;
  /** The file is a new one, so that its lines are all there are. */
  readonly isAdded: boolean;
  /** Added lines and those around them, in their order. */
  readonly lines: readonly DiffLine[];
}

export interface DiffLine {
  /** From 1, in the new file. */
  readonly number: number;
  readonly text: string;
  readonly isNew: boolean;
}

const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/**
 * The files that a unified diff adds lines to. Line counts of hunks only distinguish a removed line that looks like a header from
 * a header: diffs written by hand or by a model often count wrong, and are read all the same.
 */
export function readDiff(text: string): DiffFile[] {
  const files: DiffFile[] = [];
  let lines: DiffLine[] = [];
  let from = "";
  let number = 0;
  let left = { old: 0, new: 0 };
  const all = text.replace(/\r?\n$/, "").split(/\r?\n/);
  for (const [i, line] of all.entries()) {
    const hunk = HUNK.exec(line);
    const isInside = (left.old > 0 || left.new > 0) && !beginsFile(all, i) && !beginsFile(all, i - 1);
    if (hunk !== null) {
      left = { old: Number(hunk[1] ?? 1), new: Number(hunk[3] ?? 1) };
      number = Number(hunk[2]);
    } else if (line.startsWith("diff --git ")) {
      lines = [];
      left = { old: 0, new: 0 };
      number = 0;
    } else if (!isInside && line.startsWith("--- ")) from = pathIn(line);
    else if (!isInside && line.startsWith("+++ ")) {
      lines = [];
      number = 0;
      const to = pathIn(line);
      if (to !== "/dev/null") files.push({ path: to.replace(/^b\//, ""), isAdded: from === "/dev/null", lines });
    } else if (number > 0 && (/^[+ ]/.test(line) || (isInside && line === ""))) {
      lines.push({ number: number++, text: line.slice(1), isNew: line.startsWith("+") });
      left = { old: left.old - (line.startsWith("+") ? 0 : 1), new: left.new - 1 };
    } else if (line.startsWith("-")) left = { ...left, old: left.old - 1 };
  }
  return files.filter((file) => file.lines.some(({ isNew }) => isNew));
}

/** The two names and the first hunk of a file, which no count of lines hides. */
function beginsFile(lines: readonly string[], at: number): boolean {
  const [from = "", to = "", hunk = ""] = lines.slice(Math.max(at, 0), at + 3);
  return from.startsWith("--- ") && to.startsWith("+++ ") && HUNK.test(hunk);
}

/** The path without the time that some programs write after it, and without the quotes around unusual names. */
function pathIn(line: string): string {
  return line
    .slice(4)
    .replace(/\t.*$/, "")
    .trim()
    .replace(/^"(.*)"$/, "$1");
}
