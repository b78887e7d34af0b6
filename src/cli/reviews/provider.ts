import { resolve } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import type { Carrier, Limits } from "../../reviews/requester/carrier.ts";
import { commandLine, isForked } from "../../reviews/requester/command-line.ts";
import type { Provider } from "../../reviews/requester/conversation.ts";
import type { Retries } from "../../reviews/requester/retry.ts";
import { commandCarrier } from "../../reviews/requester/run-command.ts";
import { httpCarrier } from "../../reviews/requester/send-http.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import type { Call } from "../program/command.ts";
import { ownEnvironment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { withoutSecrets } from "../tapes/files/recorder.ts";
import type { REVIEW_TURN_FLAGS } from "./review-ask-commands.ts";

type ProviderFlags = Pick<
  Call<typeof REVIEW_TURN_FLAGS>["flags"],
  "command" | "arg" | "agent" | "workDir" | "passDir" | "strict" | "allowOtherAgent" | "requireCleanExit"
>;
type Chosen = Pick<Call<typeof REVIEW_TURN_FLAGS>, "config" | "given"> & { readonly flags: ProviderFlags };

/** Whom the flags ask. Only a `--url` of this very call means a server: the environment has one for other commands. */
export function providerOf({ flags, config, given }: Chosen): Provider {
  const { command: program, arg: args, agent = DEFAULT_AGENT, passDir } = flags;
  if (given.has("url")) {
    if (program !== undefined || args.length > 0) throw refusal("--url and --command exclude each other");
    return { url: config.url, agent };
  }
  if (program === undefined && args.length > 0) throw refusal("--arg belongs to a --command");
  if (program === "") throw refusal("--command needs the name of a program");
  const chosen = commandLine({ program, args, agent, takes_directory: passDir });
  return { ...chosen, args: [...chosen.args] };
}

export function workDirOf({ workDir }: ProviderFlags): string {
  return resolve(workDir ?? ".");
}

export interface CarrierFor {
  readonly provider: Provider;
  readonly directory: string;
  readonly title: string;
  readonly config: Config;
}

export function carrierFor({ provider, directory, title, config }: CarrierFor): Carrier {
  const limits = limitsOf(config);
  if ("url" in provider) return httpCarrier({ ...provider, key: config.key, limits });
  return commandCarrier({ command: provider, directory, title, environment: providerEnvironment(), limits });
}

export function isForkedBy(provider: Provider): boolean {
  return !("url" in provider) && isForked(provider);
}

/** Without secrets of ours, but with what a reviewer needs that is Assay too: the key of its model. */
export function providerEnvironment(): Readonly<Record<string, string | undefined>> {
  return withoutSecrets(ownEnvironment());
}

export function limitsOf(config: Config): Limits {
  return {
    timeMs: config.reviewTimeoutMs,
    bytes: config.reviewMaxBytes,
    lines: config.reviewMaxLines,
    graceMs: config.reviewGraceMs,
    killMs: config.reviewKillMs,
  };
}

/** The third attempt waits four times as long as the second. */
export function retriesOf({ reviewRetryMs }: Config): Retries {
  return { waitsMs: [reviewRetryMs, 4 * reviewRetryMs], random: Math.random };
}

function refusal(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
