import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Host } from "../../engine/host.ts";
import type { ReviewService } from "../../http/routes/reviews.ts";
import { AppError } from "../../protocol/errors.ts";
import { boundReviewer, type ReviewerBinding } from "../../reviews/reviewers/bound-reviewer.ts";
import { TurnsApart } from "../../reviews/server/turns-apart.ts";
import { TurnsUnderWay } from "../../reviews/server/turns-under-way.ts";
import type { Environment } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { chatModelOf } from "./review-model.ts";
import type { Shutdown } from "./shutdown.ts";

/** Reviews until the shutdown, which ends after a while what is still under way: nobody else would end the programs that review. */
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

/** Node 20 cannot run TypeScript: from source it runs the build, as the thread that writes to SQLite does. */
export function turnThreadScript(): URL {
  if (!import.meta.url.endsWith(".ts")) return new URL("./turn-thread.js", import.meta.url);
  return new URL("../../../dist/bundle/turn-thread.js", import.meta.url);
}

/** Throws `unusable_input` for a program that is not there: a host that starts without it would fail every review. */
export function usableBindings(bindings: readonly ReviewerBinding[], env: Environment): readonly ReviewerBinding[] {
  for (const binding of bindings) {
    if (binding.type !== "command" || isProgram(binding.command.program, env)) continue;
    const problem = `${binding.agent} is bound to the program ${binding.command.program}, which is not there or cannot be executed`;
    throw new AppError("unusable_input", { problem });
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
