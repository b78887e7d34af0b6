import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { evalsPath } from "./evals-file.ts";

/** Present where the last `eval run` kept its result in this folder and not on a server. */
function marker(data: string): string {
  return join(data, "evals-here");
}

export function rememberHere(data: string): void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  writeFileSync(marker(data), "");
}

export function rememberServer(data: string): void {
  rmSync(marker(data), { force: true });
}

export function wasHere(data: string): boolean {
  return existsSync(marker(data)) && existsSync(evalsPath({ data }));
}
