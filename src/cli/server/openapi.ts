import type { Call } from "../program/command.ts";
import { packageVersion } from "../version.ts";
import type { OPENAPI_FLAGS } from "./database-commands.ts";

export async function openapi({ flags, io }: Call<typeof OPENAPI_FLAGS>): Promise<undefined> {
  const document = flags.asyncapi
    ? (await import("../../http/documents/asyncapi.ts")).asyncApiDocument(packageVersion())
    : (await import("../../http/documents/openapi.ts")).openApiDocument(packageVersion());
  io.out(JSON.stringify(document, null, 2));
}
