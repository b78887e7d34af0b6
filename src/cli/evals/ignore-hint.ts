import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** What somebody should hear before a data folder is made that git would take for a part of the work; nothing where it would not. */
export function ignoreHint(data: string): string | undefined {
  const folder = resolve(data);
  if (existsSync(folder)) return undefined;
  const name = basename(folder);
  for (let at = dirname(folder); ; at = dirname(at)) {
    if (isIgnored(join(at, ".gitignore"), name)) return undefined;
    if (existsSync(join(at, ".git"))) return `what is found is kept in ${name}; add ${name}/ to .gitignore`;
    if (at === dirname(at)) return undefined;
  }
}

function isIgnored(file: string, name: string): boolean {
  try {
    const lines = readFileSync(file, "utf8").split(/\r?\n/);
    return lines.some((line) => line.trim().replace(/^(\*\*)?\/|\/(\*+)?$/g, "") === name);
  } catch {
    // There is none, or it is nobody's business here.
    return false;
  }
}
