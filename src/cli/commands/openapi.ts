import type { Call } from "../command.ts";
import type { OPENAPI_FLAGS } from "../specs/database.ts";
import { packageVersion } from "../version.ts";

export async function openapi({ flags, io }: Call<typeof OPENAPI_FLAGS>): Promise<undefined> {
  const document = flags.asyncapi
    ? (await import("../../http/asyncapi.ts")).asyncApiDocument(packageVersion())
    : (await import("../../http/openapi.ts")).openApiDocument(packageVersion());
  io.out(JSON.stringify(document, null, 2));
}
