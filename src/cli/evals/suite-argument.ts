import { existsSync, readFileSync, statSync } from "node:fs";
import { relative, sep } from "node:path";
import { systemResolve } from "../../engine/outbound/guard.ts";
import { loadSuite, requireSuite, type UsableSuite } from "../../evals/suite/load-suite.ts";
import { isSuiteRef, refText } from "../../evals/suite/suite-ref.ts";
import { fetchSuite, isSuiteUri, parseSuiteAddress } from "../../evals/suite/suite-uri.ts";
import type { TaskPlace } from "../../formats/evals/eval-outcome.ts";
import { placesIn } from "../../formats/json/json-places.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { packageVersion } from "../paths.ts";
import type { Call } from "../program/command.ts";

/** The suite that an argument names: a file that was read, or a suite that is kept where the evaluation runs. */
export type NamedSuite =
  | { readonly file: string; readonly loaded: UsableSuite; readonly isFetched?: true }
  | { readonly ref: string; readonly file?: undefined };

/** The id and version of the suite. */
export function refOf(suite: NamedSuite): string {
  return suite.file === undefined ? suite.ref : refText(suite.loaded.suite);
}

/**
 * The suite that an argument names: a file, an id, the URI of a suite on the server of the call, or an https URI with a digest, which
 * is fetched here. The user chose the address, so it may be a private one.
 */
export async function suiteGiven(argument: string, { io, config }: Pick<Call, "io" | "config">): Promise<NamedSuite> {
  const isAddress = isSuiteUri(argument) || (argument.startsWith("/v1/") && !existsSync(argument));
  if (!isAddress) return namedSuite(argument, io);
  const address = parseSuiteAddress(argument, [new URL(config.url).host]);
  if (address.type === "kept") return { ref: address.ref };
  const { webhookTimeoutMs: timeoutMs } = config;
  const outbound = { allowPrivate: true, resolve: systemResolve, timeoutMs, userAgent: `assay/${packageVersion()}` };
  return { file: argument, loaded: await fetchSuite(outbound, address), isFetched: true };
}

/** A suite file or the reference of a kept suite. Prints everything that is wrong with the file before it throws. */
function namedSuite(argument: string, io: Io): NamedSuite {
  if (!existsSync(argument) && isSuiteRef(argument)) return { ref: argument };
  const loaded = loadSuite(read(argument));
  if (loaded.ok) {
    for (const { path, problem, line } of loaded.problems) {
      const at = printable(line === undefined ? argument : `${argument}:${line}`);
      io.err(`assay: ${at}: warning: ${printable(`${path} ${problem}`)}.`);
    }
    return { file: argument, loaded };
  }
  for (const { severity, path, problem, fix, line, column } of loaded.problems) {
    const at = printable(line === undefined ? argument : `${argument}:${line}:${column}`);
    io.err(`${at}: ${severity}: ${printable(`${path === "" ? "The suite" : path} ${problem}.`)} ${fix}`);
  }
  return { file: argument, loaded: requireSuite(loaded, `${argument} is no suite: `) };
}

function read(file: string): Buffer {
  try {
    if (statSync(file).isDirectory()) throw new Error("it is a folder; name one file");
    return readFileSync(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file, and it is not the id of a suite" : message;
    throw unusableInput(`${file} cannot be read: ${why}`);
  }
}

/** The line of the file at which each task begins. */
export function placesOf({ suite, text }: UsableSuite, file: string, cwd = process.cwd()): Map<string, TaskPlace> {
  const shown = relative(cwd, file).split(sep).join("/");
  const found = placesIn(text, new Set(suite.tasks.map((_, i) => `/tasks/${i}`)));
  return new Map(
    suite.tasks.map(({ taskId }, i) => [taskId, { file: shown, line: found.get(`/tasks/${i}`)?.line ?? 1 }]),
  );
}
