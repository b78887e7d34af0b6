/** Whether tests run in their long form (`npm run test:all`): more inputs, and databases also where the same rule is held below. */
export const IS_LONG_FORM = process.env["ASSAY_TEST_ALL"] === "1";

/** The first of some variants in the short form, all in the long one. */
export function inLongForm<T>(variants: readonly T[]): readonly T[] {
  return IS_LONG_FORM ? variants : variants.slice(0, 1);
}
