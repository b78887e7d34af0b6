import { AppError } from "../../protocol/errors.ts";
import type { RegisterWorkflowResponse } from "../../protocol/workflows/api.ts";
import { connect } from "../client/client.ts";
import { readText } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT, exitCodeOf } from "../program/exit-codes.ts";

type Result =
  | ({ readonly file: string; readonly ok: true } & RegisterWorkflowResponse)
  | { readonly file: string; readonly ok: false; readonly error: { readonly error: string; readonly message: string } };

/** Every line begins with the file's name already. */
function withoutName(message: string, file: string): string {
  return message.startsWith(`${file} `) ? message.slice(file.length + 1) : message;
}

/** Every file is tried, so that one run shows all that is wrong; only a server that refuses us ends it early. */
export async function workflowRegister({ args, json, config, io }: Call): Promise<number> {
  const client = connect(config);
  const results: Result[] = [];
  for (const file of args) {
    try {
      const body = readText(file, file);
      const registered = await client.workflows.register(body);
      results.push({ file, ok: true, ...registered });
    } catch (error) {
      if (!(error instanceof AppError) || exitCodeOf(error) !== EXIT.invalid) throw error;
      results.push({ file, ok: false, error: { error: error.code, message: withoutName(error.message, file) } });
    }
  }
  const registered = results.filter((result) => result.ok);
  if (json) io.out(JSON.stringify({ results }));
  else if (registered.length > 0) {
    const rows = registered.map((result) => [
      printable(result.workflowId),
      printable(result.version),
      result.created ? "registered" : "unchanged",
    ]);
    io.out(formatTable(["WORKFLOW", "VERSION", "RESULT"], rows, io.paint));
  }
  for (const result of json ? [] : results) {
    if (!result.ok) io.err(`error: ${result.file}: ${printable(result.error.message)}`);
  }
  return registered.length === results.length ? EXIT.fine : EXIT.invalid;
}
