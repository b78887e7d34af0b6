import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Host } from "../../engine/host.ts";
import type { ReviewService } from "../../http/routes/reviews.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { boundReviewer, type ReviewerBinding } from "../../reviews/reviewers/bound-reviewer.ts";
import { TurnsUnderWay } from "../../reviews/server/host-turn.ts";
import { TurnsApart } from "../../reviews/server/turns-apart.ts";
import type { Environment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { chatModelOf } from "./review-model.ts";
import type { Shutdown } from "./shutdown.ts";

/** Reviews until the shutdown, which ends running reviews after the grace period, because their programs would outlive this process. */
export function reviewOn(
  host: Host,
  bindings: readonly ReviewerBinding[],
  config: Config,
  shutdown: Shutdown,
  secrets: () => readonly string[],
): ReviewService {
  const underWay = new TurnsUnderWay();
  const reviewLimitMs = config.reviewerTimeoutMs;
  const apart = new TurnsApart({
    script: turnThreadScript(),
    store: host.store,
    reviewers: bindings,
    backend: {},
    reviewLimitMs,
    secrets,
    signal: underWay.signal,
  });
  shutdown.add("reviews", async (remainingMs) => {
    await underWay.close(remainingMs);
    await apart.close();
  });
  const reviewers = bindings.map((binding) => boundReviewer(binding, chatModelOf));
  return { reviewers, reviewLimitMs, underWay, apart };
}

/** The script of the thread for large reviews. Node 20 cannot run TypeScript, so tests from source run the build of it. */
export function turnThreadScript(): URL {
  if (!import.meta.url.endsWith(".ts")) return new URL("./turn-thread.js", import.meta.url);
  return new URL("../../../dist/bundle/turn-thread.js", import.meta.url);
}

/** Throws `unusable_input` for a program that does not exist, because every review would fail. */
export function usableBindings(bindings: readonly ReviewerBinding[], env: Environment): readonly ReviewerBinding[] {
  for (const binding of bindings) {
    if (binding.type !== "command" || isProgram(binding.command.program, env)) continue;
    const { program } = binding.command;
    throw unusableInput(
      `${binding.agent} is bound to the program ${program}, which does not exist or cannot be executed`,
    );
  }
  return bindings;
}

function isProgram(program: string, env: Environment): boolean {
  if (program.includes("/")) return isExecutable(program);
  return (env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && isExecutable(join(folder, program)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
