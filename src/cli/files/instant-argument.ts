import { AppError } from "../../protocol/errors.ts";
import { beforeNow } from "../output/when.ts";

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The instant that a day, an instant or a time ago such as `7d` stands for. Whether an instant is one, the server says. */
export function instantArgument(flag: string, text: string | undefined, nowMs: number): string | undefined {
  if (text === undefined) return undefined;
  if (DAY.test(text)) return `${text}T00:00:00Z`;
  const instant = text.includes("T") ? text : beforeNow(text, nowMs);
  if (instant !== undefined) return instant;
  throw new AppError("unusable_input", {
    problem: `${flag} ${text} must look like 7d, 2027-01-31 or 2027-01-31T12:00:00Z`,
  });
}
