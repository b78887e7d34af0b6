import { FileError } from "../../formats/file-error.ts";

/** What the system says against writing, as the error that commands about tapes end with. Other errors pass as they are. */
export async function writing<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined || error instanceof FileError) throw error;
    throw new FileError("write_failed", path, `write ${path}: ${message}`);
  }
}
