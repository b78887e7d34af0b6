import type { AnyCommand } from "../program/command.ts";
import { REVIEW_ASK_COMMANDS } from "./review-ask-commands.ts";
import { REVIEW_PROVIDE_COMMANDS } from "./review-provide-commands.ts";
import { REVIEW_SETUP_COMMANDS } from "./review-setup-commands.ts";

/** A peer's opinion on a piece of work: asking for it, giving it. */
export const REVIEW_COMMANDS: readonly AnyCommand[] = [
  ...REVIEW_ASK_COMMANDS,
  ...REVIEW_PROVIDE_COMMANDS,
  ...REVIEW_SETUP_COMMANDS,
];
