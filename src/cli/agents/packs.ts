import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CheckedPack,
  checkPack,
  type PackProblem,
  problemText,
  requirePack,
} from "../../agents/packs/check-pack.ts";
import { packArchive } from "../../agents/packs/pack-archive.ts";
import { BadPack, type PackFiles } from "../../agents/packs/pack-files.ts";
import { readPack } from "../../agents/packs/read-pack.ts";
import { SIGNATURE_FILE, signPack } from "../../agents/packs/signature.ts";
import { packSuites } from "../../evals/suite/suite-store.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { connect } from "../client/client.ts";
import { writeWhole } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { SIGN_AGENT_FLAGS } from "./commands.ts";

/** Checks every pack, so that one call shows all that is wrong. */
export async function agentValidate({ args, json, io }: Call): Promise<number> {
  const packs: Validated[] = [];
  for (const path of args) packs.push(await validate(path));
  const ok = packs.every((pack) => pack.ok);
  if (json) io.out(JSON.stringify({ ok, packs }));
  else for (const pack of packs) print(pack, io);
  return ok ? EXIT.fine : EXIT.invalid;
}

interface Validated {
  readonly pack: string;
  readonly ok: boolean;
  readonly name?: string;
  readonly version?: string;
  readonly sha256?: string;
  readonly agents?: readonly string[];
  readonly suites?: readonly string[];
  readonly signed?: boolean;
  readonly problems: readonly PackProblem[];
}

async function validate(path: string): Promise<Validated> {
  const files = await readPack(path).catch((error: unknown) => {
    if (error instanceof BadPack) return error;
    throw error;
  });
  if (files instanceof BadPack) {
    return { pack: path, ok: false, problems: [{ file: "the pack", path: "", problem: files.message }] };
  }
  const checked = check(files);
  if (!checked.ok) return { pack: path, ok: false, problems: checked.problems };
  const { name, version, sha256, agents, suites } = checked.pack;
  return {
    pack: path,
    ok: true,
    name,
    version,
    sha256,
    agents: agents.map(({ agentId }) => agentId),
    suites: suites.map(({ ref }) => ref),
    signed: files.has(SIGNATURE_FILE),
    problems: [],
  };
}

/** The checks that need no host. Whether a host trusts the signature and serves what the pack needs is checked there. */
function check(files: PackFiles): CheckedPack {
  const shapes = scrubber();
  return checkPack(files, packSuites(shapes), shapes);
}

function print(validated: Validated, io: Io): void {
  const { ok, name, version, sha256 = "", agents = [], suites = [], signed, problems } = validated;
  const pack = printable(validated.pack);
  for (const problem of problems) io.out(`${pack}: ${io.paint.red("error")}: ${printable(problemText(problem))}.`);
  if (!ok) {
    io.out(`${io.paint.red("✗")} ${pack}: ${formatCount(problems.length, "problem")}`);
    return;
  }
  const parts = [
    `${name}@${version}`,
    formatCount(agents.length, "agent"),
    ...(suites.length === 0 ? [] : [formatCount(suites.length, "suite")]),
    signed ? "signed" : "not signed",
    `sha256 ${sha256.slice(0, 12)}`,
  ];
  io.out(`${io.paint.green("✓")} ${pack}: ${printable(parts.join(", "))}`);
}

export async function agentSign({ args, flags, json, io }: Call<typeof SIGN_AGENT_FLAGS>): Promise<undefined> {
  const [folder = ""] = args;
  if (flags.key === undefined) throw unusableInput("--key names the key to sign with");
  const files = await filesOf(folder);
  const { name, version, sha256 } = requirePack(check(files));
  const file = join(folder, SIGNATURE_FILE);
  await writeWhole(file, [signPack(files, readKey(flags.key))]);
  if (json) io.out(JSON.stringify({ file, name, version, sha256 }));
  else io.out(printable(`${file}: ${name}@${version}, sha256 ${sha256.slice(0, 12)}`));
}

async function filesOf(path: string): Promise<PackFiles> {
  return readPack(path).catch((error: unknown) => {
    throw error instanceof BadPack ? unusableInput(`${path} ${error.message}`) : error;
  });
}

function readKey(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unusableInput(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

export async function agentInstall({ args: [path = ""], json, config, io }: Call): Promise<undefined> {
  const archive = packArchive(await filesOf(path));
  const request = connect(config).agents.install(archive);
  const installed = await request.catch((error: unknown) => {
    // The server names the first problem only.
    const isInvalid = error instanceof AppError && error.code === "validation_error";
    if (isInvalid && error.details["problems"] !== undefined) {
      error.message += " For all problems: assay agent validate PACK";
    }
    throw error;
  });
  if (json) return void io.out(JSON.stringify(installed));
  const { packName, packVersion, agents, suites, signedBy, created } = installed;
  const signature = signedBy === undefined ? "not signed" : `signed by ${signedBy}`;
  io.out(printable(`${created ? "Installed" : "Unchanged:"} ${packName}@${packVersion}, ${signature}`));
  for (const agent of agents) io.out(printable(`  agent ${agent}`));
  for (const suite of suites) io.out(printable(`  suite ${suite}`));
  return undefined;
}
