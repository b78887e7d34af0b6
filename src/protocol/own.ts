/** What the record itself holds. A plain look-up of an author's name such as `constructor` would find what all objects have. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
