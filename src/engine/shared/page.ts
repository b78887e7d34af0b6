import { defined } from "../../protocol/defined.ts";
import { type AppError, type ErrorDetails, validationError } from "../../protocol/errors.ts";
import { type IdPrefix, isId } from "../../protocol/id.ts";

/** Rows of a page where the request gives no limit. */
export const DEFAULT_LIMIT = 50;

/** The first `limit` of the found rows, with the cursor of the last one where there are more. */
export function pageOf<T>(found: readonly T[], limit: number, cursorOf: (last: T) => string) {
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return { page, next: defined({ nextCursor: last && cursorOf(last) }) };
}

/** Throws `validation_error` for a cursor that is no id of this kind. */
export function requireCursor(cursor: string | undefined, prefix: IdPrefix, details?: ErrorDetails): void {
  if (cursor !== undefined && !(cursor.startsWith(`${prefix}-`) && isId(cursor))) throw unknownCursor(details);
}

export function unknownCursor(details: ErrorDetails = {}): AppError {
  return validationError("cursor is not one this host gave out", details);
}
