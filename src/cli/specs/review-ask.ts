import type { AnyCommand } from "../command.ts";

export const REVIEW_ASK_COMMANDS: readonly AnyCommand[] = [];
