import { REMARK_ID } from "../../formats/reviews/response.ts";
import type { Review } from "./finish-turn.ts";

/** Decisions name remarks by their ids, so an answer with ids that cannot be told apart is none. */
export function isUsable({ remarks }: Review): boolean {
  const ids = remarks.map(({ id }) => id);
  return ids.every((id) => REMARK_ID.test(id)) && new Set(ids).size === ids.length;
}
