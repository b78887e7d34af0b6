import { evalRun } from "../evals/commands.ts";
import type { Io } from "../output/io.ts";
import { operandsOf } from "../program/program.ts";

const COMMAND = ["eval", "run"];

/**
 * `eval run --json FILE` of version 0.1 as `eval run --output FILE`, with a warning. `--json` is a switch, so a word after it is a
 * file only where the call has its SUITE without that word. To be removed with the next version.
 */
export function withoutJsonFile(argv: readonly string[], io: Pick<Io, "err">): readonly string[] {
  if (!COMMAND.every((word, i) => argv[i] === word)) return argv;
  const at = argv.findIndex((word, i) => /^--json(=|$)/.test(word) && argv[i - 1] !== "--arg");
  const word = argv[at];
  if (word === undefined) return argv;
  const rest = argv.slice(at + 1);
  const file = word === "--json" ? fileAfter(argv, rest) : word.slice("--json=".length);
  if (file === undefined) return argv;
  io.err("assay: `eval run --json FILE` will not work in the next version; write the file with --output FILE.");
  return [...argv.slice(0, at), "--output", file, ...(word === "--json" ? rest.slice(1) : rest)];
}

function fileAfter(argv: readonly string[], [next]: readonly string[]): string | undefined {
  if (next === undefined || next.startsWith("-")) return undefined;
  return operandsOf(evalRun, argv.slice(COMMAND.length)).length > evalRun.args.length ? next : undefined;
}
