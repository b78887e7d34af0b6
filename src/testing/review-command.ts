import { fileURLToPath } from "node:url";
import { main } from "../cli/main.ts";
import { recordedIo } from "./recorded-io.ts";

export interface ReviewResult {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** `assay review …` in this process; the programs it starts are real. */
export async function review(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ReviewResult> {
  const io = recordedIo();
  const exit = await main(["review", ...argv], { io, env });
  return { exit, out: io.outText(), err: io.errLines.join("\n") };
}

export async function reviewJson(argv: readonly string[], env?: Readonly<Record<string, string>>) {
  const { exit, out, err } = await review([...argv, "--json"], env);
  const json = out === "" ? undefined : JSON.parse(out);
  return { exit, json, err };
}

/** Flags that make a Node program the provider. */
export function providerFlags(program: string, ...args: readonly string[]): string[] {
  return ["--command", process.execPath, ...[program, ...args].flatMap((arg) => ["--arg", arg])];
}

export const REPLAY = fileURLToPath(new URL("../../test/reviews/replay-stream.mjs", import.meta.url));

export interface Replayed {
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly stderr?: string;
  readonly hangs?: boolean;
}

/** Flags that make a recorded stream the provider. */
export function replayFlags(stream: string, ending: Replayed = {}): string[] {
  return providerFlags(REPLAY, stream, JSON.stringify(ending));
}

/** So many at a time: each starts processes, and machines have few cores. */
export async function inTurns<T, R>(items: readonly T[], width: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
