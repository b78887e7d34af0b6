import { chmodSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay } from "./in-process.ts";

export interface ShellPrograms {
  /** Has an `npx` and an `assay`, for the front of `PATH`. */
  readonly folder: string;
  close(): void;
}

/**
 * Programs for shells that run the command line in the process of the test, with the arguments, the working folder and the
 * settings that the shell gives them. Commands that read standard input, or are started by another command, need `ownPrograms`.
 */
export async function shellPrograms(): Promise<ShellPrograms> {
  const server = createServer((socket) => {
    const words: string[] = [];
    let rest = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\0");
      rest = parts.pop() ?? "";
      words.push(...parts);
      const [settings = 0, args = Number.POSITIVE_INFINITY] = words.slice(0, 2).map(Number);
      if (words.length === 3 + settings + args) void answer(socket, words.slice(2), settings);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const folder = tempDir();
  for (const [name, before] of [
    ["npx", "shift"],
    ["assay", ""],
  ] as const) {
    writeFileSync(join(folder, name), program(port, before));
    chmodSync(join(folder, name), 0o755);
  }
  return { folder, close: () => server.close() };
}

/** How many settings and arguments there are, the settings, the folder and the arguments, each ended by a NUL. */
function program(port: number, before: string): string {
  return `#!/usr/bin/env bash
${before}
exec 3<>/dev/tcp/127.0.0.1/${port}
settings=()
for name in "\${!ASSAY_@}"; do settings+=("$name=\${!name}"); done
printf '%s\\0' "\${#settings[@]}" "$#" "\${settings[@]}" "$PWD" "$@" >&3
read -r code out err <&3
cat "$err" >&2
cat "$out"
exit "$code"
`;
}

async function answer(socket: Socket, words: readonly string[], settings: number): Promise<void> {
  const env = Object.fromEntries(words.slice(0, settings).map((one) => one.split(/=(.*)/s)));
  const [cwd = "", ...args] = words.slice(settings);
  const { code, stdout, stderr } = await assay(args, { cwd, env });
  const [out, err] = [join(tempDir(), "stdout"), join(tempDir(), "stderr")];
  writeFileSync(out, stdout);
  writeFileSync(err, stderr);
  socket.end(`${code} ${out} ${err}\n`);
}
