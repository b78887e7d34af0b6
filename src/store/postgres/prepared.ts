import { createHash } from "node:crypto";

declare const made: unique symbol;

/** The name of a prepared statement. Only `prepared` makes one, so that no name has two texts. */
export type StatementName = string & { readonly [made]: true };

export interface Prepared {
  readonly name: StatementName;
  readonly text: string;
}

const known = new Map<string, Prepared>();

/** A server cuts names after 63 bytes. */
const ABOUT_MAX = 40;
const DIGEST_DIGITS = 20;

/**
 * A statement that each connection parses and plans once. Its name ends with the digest of its text: a server keeps the
 * first text it was given under a name, so two texts under one name would fail on the connection that uses both.
 * `about` is for people who read the server's log.
 */
export function prepared(about: string, text: string): Prepared {
  const before = known.get(text);
  if (before !== undefined) return before;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, DIGEST_DIGITS);
  const statement = { name: `${about.slice(0, ABOUT_MAX)} ${digest}` as StatementName, text };
  known.set(text, statement);
  return statement;
}
