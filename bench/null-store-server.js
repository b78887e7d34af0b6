// @ts-check
// The ceiling: `assay serve` as it is, on a store that forgets runs. Flags are those of `serve`.
import { register } from "node:module";

// One module of the build is exchanged for another; everything else, wiring included, is the real thing.
register("./null-store-hooks.js", import.meta.url);

// A URL as a value, so that the type checker does not look for a build that may not exist yet.
const { main } = await import(new URL("../dist/cli/main.js", import.meta.url).href);
process.exitCode = await main(["serve", "--json", ...process.argv.slice(2)]);
