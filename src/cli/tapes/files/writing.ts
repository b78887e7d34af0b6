import { FileError } from "../../../formats/text/file-error.ts";

/** What the system says against writing, as the error that commands about tapes end with. Other errors pass as they are. */
export async function writing<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined || error instanceof FileError) throw error;
    // The system also names what it was doing to which files, and one of them is a draft that nobody knows of.
    const reason = message.replace(/, \w+ '.*$/s, "");
    throw new FileError("write_failed", path, `write ${path}: ${reason}`);
  }
}
