import { readFileSync } from "node:fs";

/** Of the package this file is part of, as source and as built. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
