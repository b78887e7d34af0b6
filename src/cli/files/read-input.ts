/** All of standard input, of which at most `keepBytes` are kept: whoever writes must not find the pipe closed. Nothing on a terminal. */
export async function readInput(keepBytes: number): Promise<Buffer> {
  if (process.stdin.isTTY) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  let kept = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    const rest = chunk.subarray(0, keepBytes - kept);
    if (rest.length > 0) chunks.push(rest);
    kept += rest.length;
  }
  return Buffer.concat(chunks);
}
