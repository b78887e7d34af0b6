import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examplesFolder, programName } from "../paths.ts";
import type { Call } from "../program/command.ts";
import { defaultConfig } from "../settings/config.ts";
import type { Config } from "../settings/settings.ts";
import { serving } from "./serve.ts";

/** A host with something to see, in a folder that is gone afterwards. */
export async function demo(call: Call): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "assay-demo-"));
  try {
    return await serving({ ...call, config: demoConfig(call.config, folder) }, async ({ url, ownerKey = "" }) => {
      const { fillDemo } = await import("./fill-demo.ts");
      const reviewerKey = await fillDemo({ url, ownerKey });
      return { told: { reviewerKey }, hints: hintsFor(url, ownerKey, reviewerKey) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whatever is set for a real host, its database and its keys above all, is left out of it. */
function demoConfig({ host, port, console, logLevel, shutdownGraceMs }: Config, folder: string): Config {
  const examples = examplesFolder();
  const usual = defaultConfig();
  return {
    ...usual,
    ...{ host, port, console, shutdownGraceMs },
    // Who looks at it for the first time wants to read the address, and not each request that filled it.
    logLevel: logLevel === usual.logLevel ? "warn" : logLevel,
    data: folder,
    workflows: [join(examples, "workflows")],
    packs: [join(examples, "agents", "packs")],
    agents: join(examples, "agents", "agents.json"),
    suites: [join(examples, "evals")],
    allowUnsigned: true,
  };
}

function hintsFor(url: string, ownerKey: string, reviewerKey: string): string[] {
  const program = programName();
  return [
    `In another terminal: export ASSAY_URL=${url} ASSAY_KEY=${ownerKey}`,
    `Then: ${program} run list, ${program} feedback summary, ${program} agent list, ${program} eval show`,
    `Two gates wait for reviewers, of whom vera is one: ${program} inbox --key ${reviewerKey}`,
    "Nothing of it is kept when you stop it with ctrl-c.",
  ];
}
