import type { Host } from "../../engine/host.ts";
import type { EvalServices } from "../../evals/run/eval-run.ts";
import type { Io } from "../output/io.ts";
import type { Config } from "../settings/settings.ts";
import { packageVersion } from "../version.ts";
import { checkSuiteFiles, keepSuites } from "../wiring/suite-files.ts";
import type { SkippedFile } from "../wiring/workflow-files.ts";

/** Packs and suites from folders, as a server takes them at its start. What cannot be used is named and left out. */
export async function bringFiles(host: Host, config: Config, io: Io, evals: EvalServices): Promise<void> {
  const skipped = config.packs.length === 0 ? [] : await bringPacks(host, config, evals);
  const checked = await checkSuiteFiles(host, config.suites);
  await keepSuites(host, checked.suites);
  for (const { file, reason } of [...skipped, ...checked.skipped]) io.err(`assay: ${file} is left out: ${reason}.`);
}

async function bringPacks(host: Host, config: Config, evals: EvalServices): Promise<SkippedFile[]> {
  const { checkPackFolders, installEverywhere, packDesk, packTrust } = await import("../wiring/pack-folders.ts");
  const { httpSettings } = await import("../wiring/http-settings.ts");
  const { signerFor } = await import("../wiring/sign-audit.ts");
  const audit = {
    verifier: await signerFor(host.store, config),
    intervalEntries: config.auditCheckpointEntries,
    intervalSeconds: config.auditCheckpointSeconds,
  };
  const served = { host, version: packageVersion(), settings: httpSettings(config), audit, evals };
  const { packs, skipped } = await checkPackFolders(host, packDesk(served, packTrust(config)), config.packs);
  return [...skipped, ...(await installEverywhere(host, packs))];
}
