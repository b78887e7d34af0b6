import { stat } from "node:fs/promises";
import { AppError } from "../../../protocol/errors.ts";

/** Whether two paths lead to one file that is there, whatever they are called. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.isFile() && a.ino === b.ino && a.dev === b.dev;
}

/** A slip of the hand must not put a result in place of somebody's work. `flag` names the result. */
export async function refuseInput(flag: string, output: string, inputs: readonly string[]): Promise<void> {
  for (const input of inputs) {
    if (await isSameFile(output, input))
      throw new AppError("unusable_input", { problem: `${flag} would replace ${input}` });
  }
}
