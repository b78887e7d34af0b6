import { readFileSync } from "node:fs";
import { join } from "node:path";
import { requirePack } from "../../agents/packs/check-pack.ts";
import { SIGNATURE_FILE } from "../../agents/packs/file-list.ts";
import { signPack } from "../../agents/packs/signature.ts";
import { AppError } from "../../protocol/errors.ts";
import { writeWhole } from "../files/write-file.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { checkPackSource } from "./check-pack-source.ts";
import type { SIGN_AGENT_FLAGS } from "./commands.ts";
import { packSource } from "./pack-source.ts";

export async function agentSign({ args, flags, json, io }: Call<typeof SIGN_AGENT_FLAGS>): Promise<undefined> {
  const [folder = ""] = args;
  if (flags.key === undefined) throw new AppError("unusable_input", { problem: "--key names the key to sign with" });
  const files = await packSource(folder);
  const { name, version, sha256 } = requirePack(checkPackSource(files));
  const file = join(folder, SIGNATURE_FILE);
  await writeWhole(file, [signPack(files, read(flags.key))]);
  if (json) return void io.out(JSON.stringify({ file, name, version, sha256 }));
  io.out(printable(`${file}: ${name}@${version}, sha256 ${sha256.slice(0, 12)}`));
  return undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AppError("unusable_input", { problem: `${path} cannot be read: ${code}` });
  }
}
