import type { Colour, Paint } from "./io.ts";

const COLOURS: Readonly<Record<string, Colour>> = {
  completed: "green",
  failed: "red",
  cancelled: "yellow",
  cancelling: "yellow",
  paused: "yellow",
  skipped: "dim",
};

/** The status of a run or a node; what goes on is cyan. */
export function paintStatus(status: string, paint: Paint): string {
  return paint[COLOURS[status] ?? "cyan"](status);
}
