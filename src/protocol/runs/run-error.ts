import { closed, JsonObject, Name, type Static, Type } from "../schema.ts";

/** An error as events and snapshots carry it. */
export const RunErrorShape = Type.Object(
  {
    code: Name,
    message: Name,
    details: Type.Optional(JsonObject),
    retryable: Type.Optional(Type.Boolean()),
  },
  closed,
);
export type RunErrorShape = Static<typeof RunErrorShape>;
