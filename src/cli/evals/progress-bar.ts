const WIDTH = 24;

export function progressBar(done: number, total: number): string {
  const filled = total === 0 ? 0 : Math.floor((Math.min(done, total) / total) * WIDTH);
  return `${"█".repeat(filled)}${"░".repeat(WIDTH - filled)} ${done} of ${total}`;
}
