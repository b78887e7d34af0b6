import { existsSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

/** Whether a file of the repository has a test or an attack with this title, as it is written in the source. */
export function hasTest(file: string, title: string): boolean {
  const path = new URL(file, root);
  if (title === "" || !existsSync(path)) return false;
  // Long titles stand on a line of their own.
  const text = readFileSync(path, "utf8").replaceAll(/(\(|title:)\s+/g, "$1");
  const quoted = [`"${title}"`, `\`${title}\``];
  return quoted.some((one) => [`(${one}`, `title:${one}`].some((form) => text.includes(form)));
}
