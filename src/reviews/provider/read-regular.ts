import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { AppError } from "../../protocol/errors.ts";

/**
 * Files are opened without waiting: a pipe in place of the file would block the reader until a writer comes, and a device has no
 * end.
 */
export async function readRegularFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if ((await file.stat()).isFile()) return await file.readFile("utf8");
  } finally {
    await file.close();
  }
  throw new AppError("unusable_input", { problem: `${path} is not a regular file` });
}
