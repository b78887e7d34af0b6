import { type Static, Type } from "../schema.ts";

/** Memories of an agent. */
export const MemoryEntry = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 1500 }),
    content: Type.String(),
    tags: Type.Array(Type.String({ maxLength: 256 })),
    createdAt: Type.String({ description: "ISO 8601" }),
    expiresAt: Type.Optional(Type.String({ description: "ISO 8601" })),
  },
  { additionalProperties: false },
);
export type MemoryEntry = Static<typeof MemoryEntry>;
