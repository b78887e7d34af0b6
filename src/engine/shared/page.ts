import { defined } from "../../protocol/defined.ts";
import { type AppError, type ErrorDetails, validationError } from "../../protocol/errors.ts";
import { type IdPrefix, isId } from "../../protocol/id.ts";
import { isLastPage, type RowPage } from "../../store/port/large-rows.ts";

/** Rows of a page where the request gives no limit. */
export const DEFAULT_LIMIT = 50;

/** The first `limit` of the rows that were found when one more was asked for, with the cursor of the last one where there are more. */
export function pageOf<T>(found: RowPage<T>, limit: number, cursorOf: (last: T) => string) {
  const page = found.slice(0, limit);
  const last = isLastPage(found, limit + 1) ? undefined : page.at(-1);
  return { page, next: defined({ nextCursor: last && cursorOf(last) }) };
}

/** Throws `validation_error` for a cursor that is no id of this kind. */
export function requireCursor(cursor: string | undefined, prefix: IdPrefix, details?: ErrorDetails): void {
  if (cursor !== undefined && !(cursor.startsWith(`${prefix}-`) && isId(cursor))) throw unknownCursor(details);
}

export function unknownCursor(details: ErrorDetails = {}): AppError {
  return validationError("cursor is not one this host gave out", details);
}
