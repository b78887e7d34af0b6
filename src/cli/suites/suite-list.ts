import { refText } from "../../evals/suite/suite-ref.ts";
import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { suitesOf } from "../program/nearest-name.ts";
import type { LIST_SUITE_FLAGS } from "./commands.ts";

export async function suiteList({ flags, json, config, io }: Call<typeof LIST_SUITE_FLAGS>): Promise<undefined> {
  const suites = await suitesOf(connect(config), flags.suite);
  if (json) io.out(JSON.stringify({ suites }));
  else if (suites.length === 0)
    io.err("No suites yet. Write one with: assay suite init, and keep it with: assay suite push");
  else {
    const rows = suites.map((suite) => [
      refText(suite),
      String(suite.taskCount),
      suite.modes.join(","),
      printable(suite.targetAgentId ?? "any"),
      suite.hostWide ? "host" : "tenant",
      suite.sha256.slice(0, 12),
    ]);
    io.out(formatTable(["SUITE", "TASKS", "MODES", "AGENT", "OF", "SHA256"], rows, io.paint));
  }
}
