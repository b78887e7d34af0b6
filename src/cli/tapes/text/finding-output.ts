import { isAbsolute, sep } from "node:path";
import { pathToFileURL } from "node:url";
import {
  printGithub,
  printGithubError,
  printReport,
  printSarif,
  printSarifError,
} from "../../../formats/tapes/validate/print-findings.ts";
import { explainProblem } from "../../../formats/tapes/validate/problems.ts";
import type { Verdict } from "../../../formats/tapes/validate/validate.ts";
import type { FileError } from "../../../formats/text/file-error.ts";
import { formatCount } from "../../output/amount.ts";
import { printable } from "../../output/printable.ts";
import { packageVersion } from "../../version.ts";
import type { FindingFormat } from "../commands/check.ts";

interface FindingPrinter {
  verdict(path: string, verdict: Verdict): Iterable<string>;
  /** What a file that does not load leaves on standard output. */
  loadError(error: FileError): Iterable<string>;
}

/** The ways in which problems are shown on standard output, each with its last line feed. */
export const FINDING_PRINTERS: Readonly<Record<FindingFormat, FindingPrinter>> = {
  report: { verdict: reportWithEnd, loadError: () => [] },
  github: { verdict: printGithub, loadError: (error) => [printGithubError(error)] },
  sarif: {
    verdict: (path, verdict) => printSarif(path, verdict, { version: packageVersion(), uriOf }),
    loadError: (error) => printSarifError(error, { version: packageVersion(), uriOf }),
  },
  text: { verdict: printText, loadError: () => [] },
};

function* reportWithEnd(_path: string, verdict: Verdict): Generator<string> {
  yield* printReport(verdict);
  yield "\n";
}

/** A line for each problem, in the form that editors and terminals make a link of, and how many there are. */
function* printText(path: string, { checked, findings }: Verdict): Generator<string> {
  for (const { problem, line } of findings) {
    yield `${path}:${line}: ${problem.code}: ${printable(explainProblem(problem))}\n`;
  }
  const problems = findings.length === 0 ? "no problems" : formatCount(findings.length, "problem");
  yield `${path}: ${formatCount(checked, "annotation")} checked, ${problems}\n`;
}

/** A relative path stays one: those who show SARIF look from the root of the repository. */
function uriOf(path: string): string {
  if (isAbsolute(path)) return pathToFileURL(path).href;
  return path.split(sep).map(encodeURIComponent).join("/");
}
