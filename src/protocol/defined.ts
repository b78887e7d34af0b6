type Optional<T> = { [K in keyof T]: undefined extends T[K] ? K : never }[keyof T];

/** The members of an object that have a value: an optional member that has none is absent, not `undefined`. */
export type Defined<T> = Omit<T, Optional<T>> & { [K in Optional<T>]?: Exclude<T[K], undefined> };

export function defined<T extends object>(members: T): Defined<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}
