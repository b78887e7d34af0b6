import { closed, type Static, Timestamp, Type } from "../schema.ts";

/** Memories of an agent. */
export const MemoryEntry = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 1500 }),
    content: Type.String(),
    tags: Type.Array(Type.String({ maxLength: 256 })),
    createdAt: Timestamp,
    expiresAt: Type.Optional(Timestamp),
  },
  closed,
);
export type MemoryEntry = Static<typeof MemoryEntry>;
