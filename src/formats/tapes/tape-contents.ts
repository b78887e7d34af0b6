import type { Bytes } from "../text/load-lines.ts";
import { referencedBodies } from "./bodies.ts";
import { TapeDigest } from "./digest.ts";
import { readTape } from "./read-tape.ts";

/** The facts of a tape that its bundle needs. */
export interface TapeContents {
  readonly digest: string;
  readonly records: bigint;
  /** The hashes of the bodies that its records name. */
  readonly referenced: ReadonlySet<string>;
}

/** Reads a whole tape and holds none of its records. Throws `FileError`. */
export async function readTapeContents(path: string, bytes: Bytes): Promise<TapeContents> {
  const digest = await TapeDigest.start();
  const referenced = new Set<string>();
  let records = 0n;
  await readTape(path, bytes, (record) => {
    records++;
    digest.add(record);
    for (const hash of referencedBodies(record)) referenced.add(hash);
  });
  return { digest: digest.hex(), records, referenced };
}
