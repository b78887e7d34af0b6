import { CLIENT, command, type Flags, RUN } from "../program/command.ts";

export const RUN_BUNDLE_FLAGS = {
  output: {
    type: "text",
    value: "FILE",
    summary: "Write it there instead of to stdout; compressed if it ends in .gz.",
  },
  force: { type: "switch", summary: "Replace the file if it exists." },
} as const satisfies Flags;

export const runBundle = command({
  name: "run bundle",
  summary: "Everything about a run in one JSON document, without secrets.",
  about:
    "State, events, spans, annotations and metrics, for a bug report or to look at elsewhere. A long log is cut at the end " +
    "where the host limits the size; the document and this command say so.",
  args: [RUN],
  flags: RUN_BUNDLE_FLAGS,
  settings: CLIENT,
  examples: ["assay run bundle run-01k4… > bundle.json", "assay run bundle run-01k4… --output bundle.json.gz"],
  load: async () => (await import("./run-bundle.ts")).runBundle,
});
