import type { AnyCommand } from "../command.ts";

export const REVIEW_SETUP_COMMANDS: readonly AnyCommand[] = [];
