import { AppError } from "../../protocol/errors.ts";

/** The names of a flag that may be repeated and may hold several, separated by commas. */
export function split(items: readonly string[]): string[] {
  return items.flatMap((item) => item.split(",")).filter((item) => item !== "");
}

const NONE = "none";

/** The same for a flag that replaces what stood, where `none` takes all away; undefined when it was not given. */
export function replacement(flag: string, items: readonly string[]): string[] | undefined {
  if (items.length === 0) return undefined;
  const names = split(items);
  if (names.length === 1 && names[0] === NONE) return [];
  if (names.length > 0 && !names.includes(NONE)) return names;
  throw new AppError("unusable_input", { problem: `${flag} takes names, or ${NONE} alone` });
}
