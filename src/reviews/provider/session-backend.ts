import type { ReviewSession } from "./session.ts";

/** Where the sessions of a provider are stored: a directory, or the store of a host. */
export interface SessionBackend {
  /**
   * Works on a session exclusively, across processes: the result of `work` is kept before the promise resolves. `busy` when others
   * hold the session for too long, `unknown` when no session has this id.
   */
  withSession<T>(sessionID: string, work: (session: ReviewSession) => Promise<Kept<T>>): Promise<Held<T>>;
  /** Works on a new session in the same way. */
  withNewSession<T>(work: (session: ReviewSession) => Promise<Kept<T>>): Promise<T>;
  /** A copy under a new id. */
  fork(sessionID: string): Promise<string | undefined>;
  /** The session that was used last. */
  latest(): Promise<string | undefined>;
  read(sessionID: string): Promise<ReviewSession | undefined>;
}

export interface Kept<T> {
  /** Absent when nothing changed. */
  readonly session?: ReviewSession;
  readonly result: T;
}

export type Held<T> =
  | { readonly ok: true; readonly result: T }
  | { readonly ok: false; readonly why: "unknown" | "busy" };
