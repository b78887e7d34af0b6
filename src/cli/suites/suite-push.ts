import { readFileSync } from "node:fs";
import { loadSuite, requireSuite } from "../../evals/suite/load-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PutSuiteResponse } from "../../protocol/evals/suite-api.ts";
import { type Client, connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT, exitCodeOf } from "../program/exit-codes.ts";
import { type SuitePath, suitePaths } from "./suite-paths.ts";

type Result =
  | ({ readonly file: string; readonly ok: true } & PutSuiteResponse)
  | { readonly file: string; readonly ok: false; readonly error: { readonly error: string; readonly message: string } };

/** Every file is tried; only a server that refuses us, or is not there, ends it early. */
export async function suitePush({ args, json, config, io }: Call): Promise<number> {
  const client = connect(config);
  const results: Result[] = [];
  for (const path of suitePaths(args)) results.push(await push(client, path));
  const kept = results.filter((result) => result.ok);
  if (json) io.out(JSON.stringify({ results }));
  else if (kept.length > 0) {
    const rows = kept.map((result) => [
      refText(result),
      String(result.taskCount),
      result.sha256.slice(0, 12),
      result.created ? "kept" : "unchanged",
    ]);
    io.out(formatTable(["SUITE", "TASKS", "SHA256", "RESULT"], rows, io.paint));
  }
  for (const result of json ? [] : results) {
    if (!result.ok) io.err(`error: ${printable(`${result.file}: ${result.error.message}`)}`);
  }
  return kept.length === results.length ? EXIT.fine : EXIT.invalid;
}

async function push(client: Client, { file, trouble }: SuitePath): Promise<Result> {
  try {
    const bytes = trouble === undefined ? read(file) : unreadable(file, trouble);
    // Looked at here first: what cannot be read as a suite has no name to send it under.
    const { suite } = requireSuite(loadSuite(bytes), "the suite");
    const kept = await client.suites.put(refText(suite), bytes);
    return { file, ok: true, ...kept };
  } catch (error) {
    if (!(error instanceof AppError) || exitCodeOf(error) !== EXIT.invalid) throw error;
    return { file, ok: false, error: { error: error.code, message: messageOf(error) } };
  }
}

function read(file: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(file));
  } catch (error) {
    return unreadable(file, (error as Error).message);
  }
}

function unreadable(file: string, reason: string): never {
  throw new AppError("unusable_input", { problem: `${file} cannot be read: ${reason}` });
}

function messageOf({ code, details, message }: AppError): string {
  if (code !== "validation_error") return message;
  return `${String(details["problem"])}. All of it: assay suite validate FILE`;
}
