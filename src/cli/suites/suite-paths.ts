import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What is there to be read, or why it is not. */
export type SuitePath = { readonly file: string; readonly trouble?: string };

/** Files as they are named, and of folders every `*.json` by name. Nothing below: a folder of suites is flat. */
export function suitePaths(paths: readonly string[]): SuitePath[] {
  return paths.flatMap((path) => {
    try {
      return statSync(path).isDirectory() ? inFolder(path) : [{ file: path }];
    } catch (error) {
      return [{ file: path, trouble: (error as Error).message }];
    }
  });
}

function inFolder(folder: string): SuitePath[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  if (names.length === 0) return [{ file: folder, trouble: "it holds no *.json file" }];
  return names.sort().map((name) => ({ file: join(folder, name) }));
}
