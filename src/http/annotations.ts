import { AppError } from "../protocol/errors.ts";
import type { Handler } from "./handler.ts";

/** The gate answers before this is reached; should the capability ever be on without a handler, the answer is the same. */
export const annotationsRoute: Handler = () => {
  throw new AppError("capability_not_provided", { capability: "feedback" });
};
