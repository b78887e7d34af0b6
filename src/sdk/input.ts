/** A value to be sent: lists that may not be changed will do, and what may be left out may be `undefined`. */
export type Input<T> = unknown extends T
  ? unknown
  : T extends readonly unknown[]
    ? { readonly [K in keyof T]: Input<T[K]> }
    : T extends object
      ? { readonly [K in keyof T]: Input<T[K]> | (Record<never, never> extends Pick<T, K> ? undefined : never) }
      : T;
