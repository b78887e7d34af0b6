import { packArchive } from "../../agents/packs/write-archive.ts";
import type { InstallPackResponse } from "../../protocol/agents/api.ts";
import { AppError } from "../../protocol/errors.ts";
import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { packSource } from "./pack-source.ts";

export async function agentInstall({ args: [path = ""], json, config, io }: Call): Promise<undefined> {
  const archive = packArchive(await packSource(path));
  const installed = await send(() => connect(config).agents.install(archive));
  if (json) return void io.out(JSON.stringify(installed));
  const { packName, packVersion, agents, suites, signedBy, created } = installed;
  const by = signedBy === undefined ? "not signed" : `signed by ${signedBy}`;
  io.out(printable(`${created ? "Installed" : "Unchanged:"} ${packName}@${packVersion}, ${by}`));
  for (const agent of agents) io.out(printable(`  agent ${agent}`));
  for (const suite of suites) io.out(printable(`  suite ${suite}`));
  return undefined;
}

/** The server names the first problem; all of them are to be had here. */
async function send(request: () => PromiseLike<InstallPackResponse>): Promise<InstallPackResponse> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof AppError && error.code === "validation_error" && error.details["problems"] !== undefined) {
      error.message += " All of it: assay agent validate PACK";
    }
    throw error;
  }
}
