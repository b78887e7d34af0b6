import type { Look } from "../../formats/sidecar/render.ts";
import type { RowKind } from "../../formats/sidecar/sidecar.ts";
import type { Colour, Paint } from "../io.ts";
import { printable } from "../printable.ts";

const COLOURS: Readonly<Partial<Record<RowKind, Colour>>> = {
  correct: "green",
  incorrect: "red",
  unknown: "red",
  friction: "yellow",
  hypothesis: "cyan",
  alternative: "cyan",
  mute: "dim",
};

/** The run-summary block for a person at a terminal. */
export function blockLook(paint: Paint): Look {
  return {
    heading: paint.bold,
    event: paint.dim,
    kind: (kind) => paint[COLOURS[kind] ?? "bold"](kind),
    said: printable,
  };
}
