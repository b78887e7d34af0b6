import type { SettingName } from "../settings/settings.ts";
import type { Arg } from "./command.ts";

/** Settings of every command that talks to a server. */
export const CLIENT: readonly SettingName[] = ["url", "key", "timeoutMs"];

/** Settings of every command that opens the database itself. */
export const DATABASE: readonly SettingName[] = ["data", "databaseUrl"];

export const RUN: Arg = { name: "RUN", summary: "The id of a run, as `run start` and `run list` print it." };

/** The exit codes of commands that follow a run to its end. */
export const RUN_EXITS = { 0: "the run completed", 1: "the run failed or was cancelled" };
