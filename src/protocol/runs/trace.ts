/** The place of a run in the trace of the request that started it. Part of the folded run; in the log it is sealed. */
export interface Trace {
  readonly traceId: string;
  /** The span that the run belongs to. */
  readonly spanId: string;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
/** The only version whose length is fixed. */
const FIRST_VERSION = "00-";

/** The content of a W3C `traceparent` header. A malformed header counts as absent, as the recommendation asks. */
export function traceOfHeader(header: string | undefined): Trace | undefined {
  const [, traceId, spanId, more] = TRACEPARENT.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return more !== undefined && header?.startsWith(FIRST_VERSION) ? undefined : { traceId, spanId };
}

/** The trace of a run, in the sealed half of `run.started`. */
export function traceOf(sealed: object | undefined): { readonly trace?: Trace } {
  const { trace } = (sealed ?? {}) as { readonly trace?: Trace };
  return trace === undefined ? {} : { trace };
}

/** The sealed half of `run.started` with this trace in place of any other. */
export function inTrace<T extends object>(sealed: T, trace: Trace | undefined): T {
  const { trace: _, ...kept } = sealed as T & { readonly trace?: Trace };
  return { ...kept, ...(trace === undefined ? {} : { trace }) } as T;
}
