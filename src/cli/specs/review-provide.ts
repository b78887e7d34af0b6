import type { AnyCommand } from "../command.ts";

export const REVIEW_PROVIDE_COMMANDS: readonly AnyCommand[] = [];
