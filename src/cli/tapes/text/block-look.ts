import type { LineStyle } from "../../../formats/tapes/show.ts";
import type { RowKind } from "../../../formats/tapes/sidecar/sidecar.ts";
import type { Colour, Paint } from "../../output/io.ts";
import { printable } from "../../output/printable.ts";

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
export function blockLook(paint: Paint): LineStyle {
  return {
    heading: paint.bold,
    event: paint.dim,
    kind: (kind) => paint[COLOURS[kind] ?? "bold"](kind),
    quoted: printable,
  };
}
