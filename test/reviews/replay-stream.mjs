// Stands in for a provider's command: writes a recorded stream, says something on stderr, and ends as the recorded one did.
import { readFileSync, writeSync } from "node:fs";

const [stream, ending = "{}"] = process.argv.slice(2);
const { exitCode = 0, signal, stderr = "", hangs = false } = JSON.parse(ending);

process.stdin.resume();
process.stdin.on("end", () => {
  if (stderr !== "") writeSync(2, stderr);
  const bytes = readFileSync(stream);
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
  if (hangs) {
    if (exitCode !== null) process.on("SIGTERM", () => process.exit(exitCode));
    setInterval(() => {}, 1000);
  } else if (signal) process.kill(process.pid, signal);
  else process.exitCode = exitCode;
});
