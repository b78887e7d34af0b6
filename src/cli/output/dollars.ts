import { AppError } from "../../protocol/errors.ts";

/** What a flag says may be spent. */
export function dollars(flag: string, text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new AppError("unusable_input", { problem: `${flag} must be an amount like 2.50, and not ${text}` });
}
