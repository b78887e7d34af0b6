import { closestTo } from "../../protocol/closest-to.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { isSchemaName, SCHEMA_NAMES, schemaDocument, schemaIndex } from "../../protocol/published-schemas.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import { packageVersion } from "../paths.ts";
import type { Call } from "../program/command.ts";
import type { OPENAPI_FLAGS } from "./commands.ts";

export async function openapi({ flags, io }: Call<typeof OPENAPI_FLAGS>): Promise<undefined> {
  const document = flags.asyncapi
    ? (await import("../../http/documents/asyncapi.ts")).asyncApiDocument(packageVersion())
    : (await import("../../http/documents/openapi.ts")).openApiDocument(packageVersion());
  io.out(JSON.stringify(document, null, 2));
}

export async function schema({ args, io, json }: Call): Promise<undefined> {
  const [name] = args;
  if (name === undefined) {
    const index = schemaIndex();
    const rows = index.schemas.map((one) => [one.name, one.description]);
    return void io.out(json ? JSON.stringify(index) : formatTable(["NAME", "DESCRIPTION"], rows, io.paint));
  }
  if (isSchemaName(name)) return void io.out(JSON.stringify(schemaDocument(name), null, json ? undefined : 2));
  const nearest = closestTo(name, SCHEMA_NAMES);
  const next = nearest === undefined ? "`assay schema` lists them" : `did you mean ${nearest}?`;
  throw unusableInput(`there is no schema ${printable(name)}; ${next}`);
}
