import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";

const PAGE = 200;

export async function workflowList({ json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const workflows = await client.workflows.list({ limit: PAGE }).all();

  if (json) io.out(JSON.stringify({ workflows }));
  else if (workflows.length === 0) io.err("No workflows yet. Register one with: assay workflow register FILE");
  else {
    const rows = workflows.map(({ id, version, name, hash }) => [id, version, name, hash.slice(0, 12)].map(printable));
    io.out(formatTable(["WORKFLOW", "VERSION", "NAME", "HASH"], rows, io.paint));
  }
}
