import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { tempDir } from "../../src/testing/temp-dir.ts";

/** The version whose behaviour the recorded streams show; `OPENCODE_VERSION` takes another. */
const VERSION = process.env["OPENCODE_VERSION"] ?? "1.18.33";

export interface Opencode {
  readonly program: string;
  readonly version: string;
}

/** The real command from npm in a folder of its own, or the one that `OPENCODE` names. */
export async function installOpencode(): Promise<Opencode> {
  const named = process.env["OPENCODE"];
  if (named !== undefined && named !== "") return { program: named, version: "as named by OPENCODE" };
  const folder = tempDir();
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const words = ["install", `opencode-ai@${VERSION}`, "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", words, { cwd: folder });
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules/opencode-ai/package.json"), "utf8")) as {
    version: string;
  };
  return { program: join(folder, "node_modules/.bin/opencode"), version };
}
