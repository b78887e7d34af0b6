import { closeSync, openSync, readSync } from "node:fs";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../port/store.ts";
import { isDamage } from "./database-error.ts";

const MAGIC = Buffer.from("SQLite format 3\0", "latin1");

/**
 * Whether the file is whole, as far as it is known. Damage that any call met stays known until the process ends: the page
 * may be read by nothing else for hours, and a file is repaired by restoring a backup.
 */
export class FileHealth {
  readonly #path: string | undefined;
  #damage: string | undefined;

  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** Throws `unavailable` when the file is damaged, or is no database any more. */
  check(): void {
    if (this.#damage === undefined && this.#path !== undefined && !hasHeader(this.#path)) {
      this.#damage = "its first page is not that of a database";
    }
    if (this.#damage === undefined) return;
    throw new AppError("unavailable", {
      reason: `The database file is damaged (${this.#damage}). Stop the host and restore a backup`,
    });
  }

  /** The same store, whose failed calls are noticed. */
  watch(store: Store): Store {
    const { onChange, close, ...asked } = store;
    const watched = Object.entries<(...args: never[]) => Promise<unknown>>(asked).map(([name, call]) => [
      name,
      (...args: never[]) =>
        call(...args).catch((error: unknown) => {
          this.#note(error);
          throw error;
        }),
    ]);
    return { ...(Object.fromEntries(watched) as typeof asked), onChange, close };
  }

  #note(error: unknown): void {
    if (!(error instanceof AppError) || error.code !== "unavailable") return;
    const reason = String(error.details?.["reason"] ?? "");
    if (this.#damage === undefined && isDamage(reason)) this.#damage = reason;
  }
}

function hasHeader(path: string): boolean {
  const found = Buffer.alloc(MAGIC.length);
  try {
    const file = openSync(path, "r");
    try {
      readSync(file, found, 0, MAGIC.length, 0);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
  return found.equals(MAGIC);
}
