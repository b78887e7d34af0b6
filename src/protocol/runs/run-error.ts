import { type Static, Type } from "../schema.ts";

const Name = Type.String({ minLength: 1 });

/** An error as events and snapshots carry it. */
export const RunErrorShape = Type.Object(
  {
    code: Name,
    message: Name,
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    retryable: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export type RunErrorShape = Static<typeof RunErrorShape>;
