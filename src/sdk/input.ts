/** A value to be sent: lists that may not be changed will do. */
export type Input<T> = unknown extends T
  ? unknown
  : T extends readonly unknown[]
    ? { readonly [K in keyof T]: Input<T[K]> }
    : T extends object
      ? { readonly [K in keyof T]: Input<T[K]> }
      : T;
