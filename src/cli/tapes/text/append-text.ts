import { constants, type FileHandle, open } from "node:fs/promises";
import { FileError } from "../../../formats/text/file-error.ts";

/**
 * Adds a text to the end of a file of this length, in one write, and returns when it is on disk. All of it or nothing: what could
 * only be written in part is cut off again. A file that has another length by now is left alone.
 */
export async function appendText(path: string, text: string, bytesBefore: number): Promise<void> {
  try {
    const file = await open(path, constants.O_WRONLY | constants.O_APPEND);
    try {
      await append(file, path, Buffer.from(text), bytesBefore);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw failed(path, (error as Error).message);
  }
}

async function append(file: FileHandle, path: string, bytes: Buffer, bytesBefore: number): Promise<void> {
  if ((await file.stat()).size !== bytesBefore) throw failed(path, "it has changed meanwhile; try again");
  const { bytesWritten } = await file.write(bytes);
  if (bytesWritten === bytes.length) return;
  if ((await file.stat()).size === bytesBefore + bytesWritten) await file.truncate(bytesBefore);
  throw failed(path, "there is no room for it");
}

function failed(path: string, reason: string): FileError {
  return new FileError("write_failed", path, `write ${path}: ${reason}`);
}
