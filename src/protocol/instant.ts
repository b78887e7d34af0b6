import { AppError } from "./errors.ts";

const SHAPE = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** The milliseconds of an RFC 3339 instant, or undefined when the text is none. `Date.parse` alone takes 30 February. */
export function instantMs(text: string): number | undefined {
  const [, year, month, day] = SHAPE.exec(text) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const ms = date.getUTCDate() === Number(day) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

export function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** The milliseconds of an instant in a query. Throws `validation_error` for other texts. */
export function queryInstant(name: string, text: string): number {
  const ms = instantMs(text);
  if (ms !== undefined) return ms;
  throw new AppError("validation_error", { problem: `query/${name} must be an instant like 2027-01-31T12:00:00Z` });
}
