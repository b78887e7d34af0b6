/** A list without repetitions while a fold adds to it: members are looked up in a set, and the list is copied once. */
export interface Gathered<T> {
  readonly list: readonly T[];
  readonly known: Set<T>;
  /** The list, where it was made here and is not shared yet. */
  readonly own?: T[];
}

/** `list` with the members of `more` that it lacks. `before` is the result of the last call, where its list is not shared yet. */
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
