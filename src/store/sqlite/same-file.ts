import { statSync } from "node:fs";

/**
 * Tells whether `path` still names the file it names now. A process goes on writing to a database file that was
 * removed or replaced as if nothing had happened, and all of it is gone with the process.
 */
export function sameFile(path: string): () => boolean {
  const opened = statSync(path);
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.ino === opened.ino && now.dev === opened.dev;
  };
}
