import { BadPack, type PackFiles } from "../../agents/packs/pack-files.ts";
import { readPack } from "../../agents/packs/read-pack.ts";
import { AppError } from "../../protocol/errors.ts";

/** The files of a pack that the command line names. Throws `unusable_input`. */
export async function packSource(path: string): Promise<PackFiles> {
  try {
    return await readPack(path);
  } catch (error) {
    if (!(error instanceof BadPack)) throw error;
    throw new AppError("unusable_input", { problem: `${path} ${error.message}` });
  }
}
