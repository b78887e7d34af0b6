#!/usr/bin/env node
// @ts-check
import { existsSync, readFileSync } from "node:fs";

const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  // Answered before anything else is loaded: scripts ask for the version often.
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  console.log(version);
} else {
  await run();
}

async function run() {
  // A checkout has sources and keeps `dist` in step with them; an installed package has `dist` only.
  if (existsSync(new URL("../src", import.meta.url))) {
    const { ensureBuilt } = await import("./build.js");
    if (!ensureBuilt()) process.exit(1);
  }
  // The URL is a value so that the type checker does not look for a build that may not exist yet.
  const { main } = await import(new URL("../dist/bundle/main.js", import.meta.url).href);
  const exitCode = await main(argv);
  if (typeof exitCode === "number") process.exitCode = exitCode;
}
