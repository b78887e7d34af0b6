import { AppError } from "../../protocol/errors.ts";
import { changesSnapshot, tierOf } from "../../protocol/events.ts";

export const STREAM_MODES = ["values", "updates", "messages", "debug"] as const;
export type StreamMode = (typeof STREAM_MODES)[number];

/** A valid combination of modes. Two requests for the same modes have the same key, whatever order they name them in. */
export interface StreamModes {
  readonly key: string;
  readonly names: readonly StreamMode[];
}

/** Throws `unsupported_stream_mode` for names that are unknown, empty or repeated, and for `values` beside another. */
export function parseStreamMode(raw = "updates"): StreamModes {
  const asked = raw.split(",").map((name) => name.trim());
  const names = STREAM_MODES.filter((mode) => asked.includes(mode));
  const valid = names.length === asked.length && (names.length === 1 || !names.includes("values"));
  if (!valid) throw new AppError("unsupported_stream_mode", { mode: raw, supported: [...STREAM_MODES] });
  return { key: names.join(","), names };
}

/** Whether any of the modes carries events of this type. */
export function isAdmitted(modes: StreamModes, type: string): boolean {
  return modes.names.some((mode) => admits(mode, type));
}

function admits(mode: StreamMode, type: string): boolean {
  switch (mode) {
    case "values":
      return changesSnapshot(type);
    case "updates":
      return tierOf(type) === "updates";
    case "messages":
      return isMessageChunk(type);
    case "debug":
      return true;
  }
}

/** The one log event that streams show in another form. */
export function isMessageChunk(type: string): boolean {
  return type === "output.chunk";
}
