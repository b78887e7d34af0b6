import { closed, Name, open, Type } from "../schema.ts";

/** As a text where a number would not be exact. */
const Integer = Type.Union([Type.Integer(), Type.String({ pattern: "^-?[0-9]+$" })]);

/** Events of runs that were recorded elsewhere. Part of the catalogue in `events.ts`. */
export const TAPE_EVENTS = {
  "assay.tape.record": {
    tier: "debug",
    summary: "A record of the tape that the run came as, with the names of the file.",
    payload: Type.Object(
      {
        seq: Integer,
        phase: Name,
        virtual_time_ms: Integer,
        monotonic_ms: Integer,
        kind: Type.Object({ kind: Name }, open),
      },
      closed,
    ),
  },
} as const;
