import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Works on a file or a folder that is not whole yet, and removes what is left of it, also when a signal ends the process meanwhile. */
export async function withDraft<T>(
  draft: string,
  work: () => Promise<T>,
  endBy: (signal: NodeJS.Signals) => void = (signal) => process.kill(process.pid, signal),
): Promise<T> {
  const onSignal = (signal: NodeJS.Signals) => {
    rmSync(draft, { recursive: true, force: true });
    stopListening();
    endBy(signal);
  };
  const stopListening = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    return await work();
  } finally {
    stopListening();
    // Where it could not be made, it cannot be removed either, and why is known already.
    await rm(draft, { recursive: true, force: true }).catch(() => {});
  }
}
