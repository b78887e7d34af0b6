import { AppError } from "../../protocol/errors.ts";
import { instantMs } from "../../protocol/instant.ts";

/** The milliseconds of an instant in a query. Throws `validation_error` for a text that is none. */
export function queryInstant(name: string, text: string): number {
  const ms = instantMs(text);
  if (ms !== undefined) return ms;
  throw new AppError("validation_error", { problem: `query/${name} must be an instant like 2027-01-31T12:00:00Z` });
}
