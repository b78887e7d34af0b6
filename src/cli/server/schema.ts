import { closestTo } from "../../protocol/closest-to.ts";
import { AppError } from "../../protocol/errors.ts";
import { isSchemaName, SCHEMA_NAMES, schemaDocument, schemaIndex } from "../../protocol/published-schemas.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";

export async function schema({ args, io, json }: Call): Promise<undefined> {
  const [name] = args;
  if (name === undefined) {
    const index = schemaIndex();
    const rows = index.schemas.map((one) => [one.name, one.description]);
    io.out(json ? JSON.stringify(index) : formatTable(["NAME", "DESCRIPTION"], rows, io.paint));
    return;
  }
  if (!isSchemaName(name)) throw unknownSchema(name);
  io.out(JSON.stringify(schemaDocument(name), null, json ? undefined : 2));
}

function unknownSchema(name: string): AppError {
  const nearest = closestTo(name, SCHEMA_NAMES);
  const next = nearest === undefined ? "`assay schema` lists them" : `did you mean ${nearest}?`;
  return new AppError("unusable_input", { problem: `there is no schema ${printable(name)}; ${next}` });
}
