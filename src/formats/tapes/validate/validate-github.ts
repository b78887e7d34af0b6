import type { FileError } from "../../text/file-error.ts";
import { explainProblem } from "./explain-problem.ts";
import type { Verdict } from "./validate.ts";

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
