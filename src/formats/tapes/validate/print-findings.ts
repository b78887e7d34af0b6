import { printString } from "../../json/print-json.ts";
import type { FileError, FileErrorCode } from "../../text/file-error.ts";
import { explainProblem, PROBLEM_SUMMARIES, type Problem } from "./problems.ts";
import type { Verdict } from "./validate.ts";

/** The report as it is compared byte for byte, in pieces, without a line feed at the end. */
export function* printReport({ checked, findings, kindCounts }: Verdict): Generator<string> {
  yield `{\n  "annotations_checked": ${checked},\n  "problems": [`;
  let before = "\n";
  for (const { problem } of findings) {
    yield `${before}    {\n${members(problem).join(",\n")}\n    }`;
    before = ",\n";
  }
  yield findings.length === 0 ? "],\n" : "\n  ],\n";
  const counts = [...kindCounts].map(([kind, count]) => `    ${printString(kind)}: ${count}`);
  yield `  "kind_counts": ${counts.length === 0 ? "{}" : `{\n${counts.join(",\n")}\n  }`}\n}`;
}

function members(problem: Problem): string[] {
  const entries = Object.entries(problem) as [string, string | bigint][];
  return entries.map(([name, value]) => `      "${name}": ${typeof value === "string" ? printString(value) : value}`);
}

/** Commands of a GitHub workflow: the runner shows each at its line of the file. */
export function* printGithub(path: string, { findings }: Verdict): Generator<string> {
  for (const { problem, line } of findings)
    yield command({ file: path, line, title: problem.code }, explainProblem(problem));
}

export function printGithubError({ path, code, message, place }: FileError): string {
  return command({ file: path, line: place.line ?? 1, title: code }, message);
}

function command(properties: Readonly<Record<string, string | number>>, message: string): string {
  const entries = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  return `::error ${entries.join(",")}::${escapeData(message)}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Why a file cannot be validated at all. */
const LOAD_ERROR_SUMMARIES = {
  tape_read_failed: "The tape cannot be read, or is not UTF-8.",
  tape_empty: "The tape is empty.",
  tape_header_parse: "The first line of the tape is no header.",
  tape_header_missing: "The tape begins with a record.",
  unsupported_tape_version: "The tape is of a newer version.",
  tape_record_parse: "A line of the tape is no record.",
  tape_second_header: "The tape has a second header.",
  read_failed: "The sidecar cannot be read, or is not UTF-8.",
  empty_file: "The sidecar is empty.",
  header_parse: "The first line of the sidecar is no header.",
  header_missing: "The sidecar begins with an annotation.",
  unsupported_schema_version: "The sidecar is of a newer version.",
  record_parse: "A line of the sidecar is no annotation.",
  second_header: "The sidecar has a second header.",
} as const satisfies Partial<Record<FileErrorCode, string>>;

const RULES = Object.entries({ ...PROBLEM_SUMMARIES, ...LOAD_ERROR_SUMMARIES });

export interface SarifOptions {
  /** Of the program that writes this. */
  readonly version: string;
  /** A path as the reference that SARIF asks for. */
  readonly uriOf: (path: string) => string;
}

interface Result {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly line: number | undefined;
}

/** A SARIF 2.1.0 log in pieces: one result for each problem. */
export function printSarif(path: string, { findings }: Verdict, options: SarifOptions): Generator<string> {
  return printLog(problemResults(path, findings), true, options);
}

/** The same for a file that does not load: its error is the one result. */
export function printSarifError({ code, message, path, place }: FileError, options: SarifOptions): Generator<string> {
  return printLog([{ code, message, path, line: place.line }], false, options);
}

function* problemResults(path: string, findings: Verdict["findings"]): Generator<Result> {
  for (const { problem, line } of findings) yield { code: problem.code, message: explainProblem(problem), path, line };
}

function* printLog(results: Iterable<Result>, isComplete: boolean, options: SarifOptions): Generator<string> {
  const rules = RULES.map(([id, text]) => ({ id, name: nameOf(id), shortDescription: { text } }));
  const driver = JSON.stringify({ name: "Assay", semanticVersion: options.version, rules });
  const invocations = JSON.stringify([{ executionSuccessful: isComplete }]);
  yield '{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{';
  yield `"tool":{"driver":${driver}},\n"invocations":${invocations},\n"results":[`;
  let before = "\n";
  for (const result of results) {
    yield before + JSON.stringify(resultOf(result, options));
    before = ",\n";
  }
  yield "\n]}]}\n";
}

function resultOf({ code, message, path, line }: Result, { uriOf }: SarifOptions) {
  const region = line === undefined ? {} : { region: { startLine: line } };
  return {
    ruleId: code,
    ruleIndex: RULES.findIndex(([id]) => id === code),
    level: "error",
    message: { text: message },
    locations: [{ physicalLocation: { artifactLocation: { uri: uriOf(path) }, ...region } }],
  };
}

/** Viewers show names in this form: `DuplicateId`. */
function nameOf(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export function isLoadError({ code }: FileError): boolean {
  return Object.hasOwn(LOAD_ERROR_SUMMARIES, code);
}
