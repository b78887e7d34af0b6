import type { Arg } from "../../program/command.ts";

export const TAPE: Arg = { name: "TAPE", summary: "A recorded run, such as run.tape." };

export const ANNOTATIONS = {
  type: "text",
  value: "SIDECAR",
  summary: "Its annotations; TAPE.annotations.jsonl unless given.",
} as const;

/** What exit code 1 means of commands that only read. */
export const NOT_LOADED = "a file does not load";
/** And of those that can write one. */
export const NOT_LOADED_OR_WRITTEN = "a file does not load, or cannot be written";
