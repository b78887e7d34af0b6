/** Rows of one key added up, field by field. */
export class Sums<R extends object> {
  readonly #keyOf: (row: R) => string;
  readonly #byKey = new Map<string, R>();

  constructor(keyOf: (row: R) => string) {
    this.#keyOf = keyOf;
  }

  get rows(): R[] {
    return [...this.#byKey.values()];
  }

  of(key: string): R | undefined {
    return this.#byKey.get(key);
  }

  add(rows: readonly R[]): void {
    for (const row of rows) {
      const key = this.#keyOf(row);
      const before = this.#byKey.get(key);
      this.#byKey.set(key, before === undefined ? row : sum(before, row));
    }
  }
}

function sum<R extends object>(a: R, b: R): R {
  const fields = Object.entries(a).map(([name, value]) => {
    const other = b[name as keyof R];
    return [name, typeof value === "number" && typeof other === "number" ? value + other : value];
  });
  return Object.fromEntries(fields) as R;
}
