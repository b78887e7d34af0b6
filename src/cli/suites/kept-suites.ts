import { loadSuite, requireSuite } from "../../evals/suite/load-suite.ts";
import { refText } from "../../evals/suite/suite-ref.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import type { PutSuiteResponse } from "../../protocol/evals/suite-api.ts";
import { type Client, connect } from "../client/client.ts";
import { escaped, printable } from "../output/printable.ts";
import { formatTable, printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT, exitCodeOf } from "../program/exit-codes.ts";
import { orNearest, suiteNames, suitesOf } from "../program/nearest-name.ts";
import type { LIST_SUITE_FLAGS } from "./commands.ts";
import { type SuiteFile, suiteFiles } from "./suite-files.ts";

type Pushed =
  | ({ readonly file: string; readonly ok: true } & PutSuiteResponse)
  | { readonly file: string; readonly ok: false; readonly error: { readonly error: string; readonly message: string } };

/** Tries every file; ends early only when the server refuses the key or cannot be reached. */
export async function suitePush({ args, json, config, io }: Call): Promise<number> {
  const client = connect(config);
  const results: Pushed[] = [];
  for (const file of suiteFiles(args)) results.push(await push(client, file));
  const kept = results.filter((result) => result.ok);
  if (json) io.out(JSON.stringify({ results }));
  else if (kept.length > 0) {
    const rows = kept.map((one) => [
      refText(one),
      String(one.taskCount),
      one.sha256.slice(0, 12),
      one.created ? "kept" : "unchanged",
    ]);
    io.out(formatTable(["SUITE", "TASKS", "SHA256", "RESULT"], rows, io.paint));
  }
  for (const result of json ? [] : results) {
    if (!result.ok) io.err(`error: ${printable(`${result.file}: ${result.error.message}`)}`);
  }
  return kept.length === results.length ? EXIT.fine : EXIT.invalid;
}

async function push({ suites }: Client, { file, ...found }: SuiteFile): Promise<Pushed> {
  try {
    if ("unreadable" in found) throw unusableInput(`${file} cannot be read: ${found.unreadable}`);
    // Checked here first: a text that is no suite has no name to send it under.
    const { suite } = requireSuite(loadSuite(found.bytes), "the suite");
    const kept = await suites.put(refText(suite), found.bytes);
    return { file, ok: true, ...kept };
  } catch (error) {
    if (!(error instanceof AppError) || exitCodeOf(error) !== EXIT.invalid) throw error;
    return { file, ok: false, error: { error: error.code, message: messageOf(error) } };
  }
}

function messageOf({ code, details, message }: AppError): string {
  if (code !== "validation_error") return message;
  return `${String(details["problem"])}. For all problems: assay suite validate FILE`;
}

export async function suiteList(call: Call<typeof LIST_SUITE_FLAGS>): Promise<undefined> {
  const suites = await suitesOf(connect(call.config), call.flags.suite);
  const answer = { suites };
  printList(call, suites, answer, {
    empty: "No suites yet. Write one with: assay suite init, and keep it with: assay suite push",
    headings: ["SUITE", "TASKS", "MODES", "AGENT", "OF", "SHA256"],
    row: (suite) => [
      refText(suite),
      String(suite.taskCount),
      suite.modes.join(","),
      printable(suite.targetAgentId ?? "any"),
      suite.hostWide ? "host" : "tenant",
      suite.sha256.slice(0, 12),
    ],
  });
}

/** Prints the author's own text. Control characters and marks of direction in it are escaped, which changes neither value nor hash. */
export async function suiteShow({ args: [suite = ""], config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const names = async () => suiteNames(await suitesOf(client), suite);
  const response = await orNearest(client.suites.get(suite).asResponse(), { suite: { name: suite, names } });
  const text = await response.text();
  await io.write(escaped(text.endsWith("\n") ? text : `${text}\n`));
}
