type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The members of an object that have a value: an optional member that has none is absent, not `undefined`. */
export type Defined<T> = Omit<T, Optional<T>> & { [K in Optional<T>]?: Exclude<T[K], undefined> };

/** Names are those of the code, not of any input. A loop, because every event of a run passes here. */
export function defined<T extends object>(members: T): Defined<T> {
  const present: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) present[name] = members[name];
  return present as Defined<T>;
}
