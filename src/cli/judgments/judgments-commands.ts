import { type AnyCommand, CLIENT, command, type Flags } from "../program/command.ts";
import { ANNOTATION_FILTERS } from "./commands.ts";

export const EXPORT_FLAGS = {
  output: { type: "text", value: "FILE", summary: "Write here instead; compressed when the name ends in .gz." },
  force: { type: "switch", summary: "Replace the file when it exists." },
  run: { type: "text", value: "ID", summary: "Only on this run." },
  ...ANNOTATION_FILTERS,
} as const satisfies Flags;

export const exportJudgments = command({
  name: "export",
  summary: "Write judgments with their whole history, as JSON lines.",
  about:
    "Oldest first, whatever became of them, to standard output or a file. docs/formats/judgments.md describes the lines. With " +
    "--output, the file is there when it is whole; with --json as well, how many judgments it holds.",
  args: [],
  flags: EXPORT_FLAGS,
  settings: CLIENT,
  examples: [
    "assay export --output judgments.jsonl.gz",
    "assay export --workflow report --actor-kind person --from 30d > report.jsonl",
  ],
  exits: {
    2: "there is something wrong with the filters or the file",
    4: "the server could not be reached, or broke off",
  },
  load: async () => (await import("./export.ts")).exportJudgments,
});

export const IMPORT_FLAGS = {
  dryRun: { type: "switch", summary: "Only say what would come of it." },
} as const satisfies Flags;

export const importJudgments = command({
  name: "import",
  summary: "Take judgments in that `export` wrote, on this host or another.",
  about:
    "Ids, authors, times and history are kept. What is here already is left as it is or brought up to date, so a file can be " +
    "imported as often as you like. A file that is cut or of another format is refused before anything is sent; a line that " +
    "cannot be taken is named, and the others are imported.",
  args: [{ name: "FILE", summary: "A file made by `export`, also compressed; - for standard input." }],
  flags: IMPORT_FLAGS,
  settings: CLIENT,
  examples: ["assay import judgments.jsonl.gz --dry-run", "assay import judgments.jsonl.gz"],
  exits: {
    0: "all of it is here now",
    2: "it is no such file, it is cut, or lines of it were refused",
    3: "the key may not import judgments",
  },
  load: async () => (await import("./import.ts")).importJudgments,
});

export const JUDGMENT_COMMANDS: readonly AnyCommand[] = [exportJudgments, importJudgments];
