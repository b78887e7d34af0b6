import { AppError } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import { closestTo } from "./suggest.ts";

/** What somebody named, and where to look for what there is. */
export interface Named {
  readonly name: string;
  names(): Promise<readonly string[]>;
  /** What to do where no name is near. */
  readonly hint?: string;
}

/** By the word that the error has for the kind of thing, like `agent`. */
export type NamedThings = Readonly<Record<string, Named>>;

/**
 * The answer to what was asked. Where it is that there is no such thing, the complaint says which name that was, and which one was
 * probably meant. What there is, is only looked up then; when that fails too, the complaint is the first one.
 */
export async function orNearest<T>(asked: PromiseLike<T>, things: NamedThings): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    const what = error instanceof AppError && error.code === "not_found" ? error.details["what"] : undefined;
    const thing = typeof what === "string" && Object.hasOwn(things, what) ? things[what] : undefined;
    if (!(error instanceof AppError) || thing === undefined) throw error;
    throw await explained(error, String(what), thing);
  }
}

async function explained(error: AppError, what: string, { name, names, hint }: Named): Promise<AppError> {
  const nearest = await names().then(
    (known) => closestTo(name, known),
    () => undefined,
  );
  const told = new AppError("not_found", { ...error.details, ...(nearest === undefined ? {} : { nearest }) });
  const first = error.message.replace(`There is no ${what} here`, () => `There is no ${what} ${printable(name)} here`);
  const next = nearest === undefined ? hint : `Did you mean ${printable(nearest)}?`;
  told.message = next === undefined ? first : `${first} ${next}`;
  return told;
}
