import { basename, resolve } from "node:path";
import { unusableInput } from "../../protocol/errors.ts";
import type { Asking } from "../../reviews/requester/ask.ts";
import type { Carrier, Limits } from "../../reviews/requester/carrier.ts";
import type { Conversation, Provider } from "../../reviews/requester/conversation.ts";
import { commandCarrier, commandLine, isForked } from "../../reviews/requester/run-command.ts";
import { httpCarrier } from "../../reviews/requester/send-http.ts";
import type { Retries } from "../../reviews/requester/take-turn.ts";
import { DEFAULT_AGENT } from "../../reviews/reviewer.ts";
import type { Call } from "../program/command.ts";
import { ownEnvironment, withoutSecrets } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import type { REVIEW_TURN_FLAGS } from "./commands.ts";

type ProviderFlags = Pick<
  Call<typeof REVIEW_TURN_FLAGS>["flags"],
  "command" | "arg" | "agent" | "workDir" | "passDir" | "strict" | "allowOtherAgent" | "requireCleanExit"
>;
type Chosen = Pick<Call<typeof REVIEW_TURN_FLAGS>, "config" | "given"> & { readonly flags: ProviderFlags };

/** The provider that the flags name. Only a `--url` flag selects a server: the setting in the environment is for other commands. */
export function providerOf({ flags, config, given }: Chosen): Provider {
  const { command: program, arg: args, agent = DEFAULT_AGENT, passDir } = flags;
  if (given.has("url")) {
    if (program !== undefined || args.length > 0) throw unusableInput("--url and --command exclude each other");
    return { url: config.url, agent };
  }
  if (program === undefined && args.length > 0) throw unusableInput("--arg belongs to a --command");
  if (program === "") throw unusableInput("--command needs the name of a program");
  const chosen = commandLine({ program, args, agent, takes_directory: passDir });
  return { ...chosen, args: [...chosen.args] };
}

export function workDirOf({ workDir }: ProviderFlags): string {
  return resolve(workDir ?? ".");
}

interface CarrierFor {
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

/** The environment without the host's secrets; the key of a reviewer's model stays. */
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

export function askingFor(
  { command: provider, directory, artifact }: Conversation,
  config: Config,
  signal: AbortSignal,
): Asking {
  const title = `Review of ${basename(artifact.path)}`;
  return {
    carrier: carrierFor({ provider, directory, title, config }),
    retries: retriesOf(config),
    forked: isForkedBy(provider),
    signal,
  };
}
