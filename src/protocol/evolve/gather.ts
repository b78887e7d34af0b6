/** A list without repetitions while a fold adds to it: what is in it is looked up and not searched for, and it is copied once. */
export interface Gathered<T> {
  readonly list: readonly T[];
  readonly known: Set<T>;
  /** The list, where it was made here and nobody has seen it. */
  readonly own?: T[];
}

/** `list` with what it lacks of `more`. `before` is what the last call gave, where nobody has seen its list since. */
export function gather<T>(list: readonly T[], more: readonly T[], before: Gathered<T> | undefined): Gathered<T> {
  const known = before?.list === list ? before.known : new Set(list);
  const added = new Set(more.filter((one) => !known.has(one)));
  if (added.size === 0) return before?.list === list ? before : { list, known };
  const own = before?.list === list && before.own !== undefined ? before.own : [...list];
  for (const one of added) {
    known.add(one);
    own.push(one);
  }
  return { list: own, known, own };
}
