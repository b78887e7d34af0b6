import type { RegisterWorkflowResponse } from "../../protocol/workflows/workflow.ts";
import { connect } from "../client/client.ts";
import { readText } from "../files/arguments.ts";
import { printable } from "../output/printable.ts";
import { formatTable, printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT, refusalOf } from "../program/exit-codes.ts";
import { orNearest, workflowIds } from "../program/nearest-name.ts";

type Result =
  | ({ readonly file: string; readonly ok: true } & RegisterWorkflowResponse)
  | { readonly file: string; readonly ok: false; readonly error: ReturnType<typeof refusalOf> };

/** Tries every file, so that one call shows all errors; a refused key or an unreachable server ends the command. */
export async function workflowRegister({ args, json, config, io }: Call): Promise<number> {
  const client = connect(config);
  const results: Result[] = [];
  for (const file of args) {
    try {
      results.push({ file, ok: true, ...(await client.workflows.register(readText(file, file))) });
    } catch (error) {
      const refusal = refusalOf(error);
      results.push({ file, ok: false, error: { ...refusal, message: withoutName(refusal.message, file) } });
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

/** The message without the file's name, with which every line begins. */
function withoutName(message: string, file: string): string {
  return message.startsWith(`${file} `) ? message.slice(file.length + 1) : message;
}

const PAGE = 200;

export async function workflowList(call: Call): Promise<undefined> {
  const workflows = await connect(call.config).workflows.list({ limit: PAGE }).all();
  const answer = { workflows };
  printList(call, workflows, answer, {
    empty: "No workflows yet. Register one with: assay workflow register FILE",
    headings: ["WORKFLOW", "VERSION", "NAME", "HASH"],
    row: ({ id, version, name, hash }) => [id, version, name, hash.slice(0, 12)].map(printable),
  });
}

/** Prints the author's own text; escapes that `out` adds do not change the JSON value. */
export async function workflowShow({ args: [workflowId = ""], config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const asked = client.workflows.get(workflowId).asResponse();
  const response = await orNearest(asked, { workflow: { name: workflowId, names: () => workflowIds(client) } });
  const text = await response.text();
  io.out(text.replace(/\n$/, ""));
}
