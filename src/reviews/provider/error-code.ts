/** `ENOENT` and the like; undefined for what the system did not say. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
