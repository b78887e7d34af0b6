import { type CheckedPack, type PackProblem, problemText } from "../../agents/packs/check-pack.ts";
import { SIGNATURE_FILE } from "../../agents/packs/file-list.ts";
import { BadPack, type PackFiles } from "../../agents/packs/pack-files.ts";
import { readPack } from "../../agents/packs/read-pack.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { checkPackSource } from "./check-pack-source.ts";

interface Checked {
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

/** Every pack is looked at, so that one run shows all that is wrong. */
export async function agentValidate({ args, json, io }: Call): Promise<number> {
  const packs: Checked[] = [];
  for (const path of args) packs.push(await check(path));
  const ok = packs.every((pack) => pack.ok);
  if (json) io.out(JSON.stringify({ ok, packs }));
  else for (const pack of packs) print(pack, io);
  return ok ? EXIT.fine : EXIT.invalid;
}

async function check(path: string): Promise<Checked> {
  let files: PackFiles;
  try {
    files = await readPack(path);
  } catch (error) {
    if (!(error instanceof BadPack)) throw error;
    return { pack: path, ok: false, problems: [{ file: "the pack", path: "", problem: error.message }] };
  }
  return { pack: path, ...judged(checkPackSource(files), files) };
}

function judged(checked: CheckedPack, files: PackFiles): Omit<Checked, "pack"> {
  if (!checked.ok) return { ok: false, problems: checked.problems };
  const { name, version, sha256, agents, suites } = checked.pack;
  return {
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

function print(
  { pack, ok, name, version, sha256 = "", agents = [], suites = [], signed, problems }: Checked,
  io: Io,
): void {
  const shown = printable(pack);
  for (const problem of problems) io.out(`${shown}: ${io.paint.red("error")}: ${printable(problemText(problem))}.`);
  if (!ok) {
    io.out(`${io.paint.red("✗")} ${shown}: ${formatCount(problems.length, "problem")}`);
    return;
  }
  const parts = [
    `${name}@${version}`,
    formatCount(agents.length, "agent"),
    ...(suites.length === 0 ? [] : [formatCount(suites.length, "suite")]),
    signed ? "signed" : "not signed",
    `sha256 ${sha256.slice(0, 12)}`,
  ];
  io.out(`${io.paint.green("✓")} ${shown}: ${printable(parts.join(", "))}`);
}
