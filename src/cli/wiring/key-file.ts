import { readFileSync } from "node:fs";
import { unusableInput } from "../../protocol/errors.ts";
import { KeyFileEntry } from "../../protocol/identity/api.ts";
import { instantMs } from "../../protocol/instant.ts";
import { matches, problemsOf } from "../../protocol/schema.ts";

/** The entries of a `--keys` file. Throws `unusable_input` with every invalid entry; the message never quotes a key. */
export function readKeyFile(path: string): KeyFileEntry[] {
  const entries = parseArray(path);
  const problems = entries.flatMap((entry, i) => problemsIn(entry).map((problem) => `entry ${i} ${problem}`));
  if (problems.length > 0) refuse(`${path}: ${problems.slice(0, SHOWN).join("; ")}`);
  return entries as KeyFileEntry[];
}

const SHOWN = 10;

function parseArray(path: string): unknown[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // The message of Node quotes the text around a syntax error, which may be a key.
    if (error instanceof SyntaxError) return refuse(`${path} is not JSON`);
    return refuse(`--keys cannot be read: ${(error as Error).message}`);
  }
  return Array.isArray(content) ? content : refuse(`${path} must hold a JSON array of keys`);
}

function problemsIn(entry: unknown): string[] {
  if (!matches(KeyFileEntry, entry)) {
    return problemsOf(KeyFileEntry, entry).map(({ path, problem }) => `${path.replace(/^\//, "")} ${problem}`.trim());
  }
  const { expiresAt } = entry;
  if (expiresAt === undefined || instantMs(expiresAt) !== undefined) return [];
  return ["expiresAt must be an instant such as 2030-01-31T12:00:00Z"];
}

function refuse(problem: string): never {
  throw unusableInput(problem);
}
