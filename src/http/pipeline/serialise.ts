import type { Reply } from "./handler.ts";

export type Written = Exclude<Reply, "hijacked">;

export function serialise(reply: Written): { body: string | Uint8Array | null; contentType: string } {
  return "json" in reply
    ? { body: JSON.stringify(reply.json), contentType: "application/json" }
    : { body: reply.raw, contentType: reply.contentType ?? "application/octet-stream" };
}
