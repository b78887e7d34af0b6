import { REMARK_ID } from "../../formats/reviews/response.ts";
import type { Review } from "./finish-turn.ts";

/** Remark ids must differ, because decisions name remarks by them. */
export function isUsable({ remarks }: Review): boolean {
  const ids = remarks.map(({ id }) => id);
  return ids.every((id) => REMARK_ID.test(id)) && new Set(ids).size === ids.length;
}
