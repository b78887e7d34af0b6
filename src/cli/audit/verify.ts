import type { AuditAnomaly } from "../../protocol/audit/audit.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { type Client, connect, unlessRefused } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { firstLines } from "../output/table.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { errorLine } from "../program/error-line.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { AUDIT_VERIFY_FLAGS } from "./commands.ts";

export interface Verdict {
  readonly entries: number;
  readonly checkpoints: number;
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  readonly anomalies: readonly AuditAnomaly[];
  /** In an export: its last entry, and the last that a checkpoint signs, 0 where there is none. */
  readonly toSeq?: number;
  readonly signedThrough?: number;
  /** With `--against`. */
  readonly against?: Comparison;
}

/** Compares the log of a server with an earlier export of it. */
export interface Comparison {
  readonly file: string;
  readonly entries: number;
  readonly checkpoints: number;
  /** Whether the export is valid on its own. */
  readonly exportValid: boolean;
  /** The first entry of the export that is missing or different on the server. */
  readonly differsAt?: number;
  /** Checkpoints of the export that are missing or have another root on the server; by their last entry. */
  readonly missingCheckpoints: readonly number[];
}

export async function auditVerify({ flags, json, config, io }: Call<typeof AUDIT_VERIFY_FLAGS>): Promise<number> {
  if (flags.file !== undefined && flags.against !== undefined) {
    throw unusableInput("use either --file, without a server, or --against, with one");
  }
  const verdict =
    flags.file === undefined
      ? await unlessRefused("not_found", verifyLive(connect(config), flags, io))
      : await (await import("./export.ts")).verifyExport(flags.file, flags.publicKey);
  if (verdict === undefined) {
    // A host without the routes: its capability is off.
    const message = "this host does not serve its audit chain (auditLogIntegrity is off), so it cannot be verified.";
    io.err(errorLine({ error: "capability_not_provided", message, details: {} }, json));
    return EXIT.noVerdict;
  }
  if (json) io.out(JSON.stringify(verdict));
  else for (const line of describe(verdict, io)) io.out(line);
  return isValid(verdict) ? EXIT.fine : EXIT.negative;
}

function isValid({ chainValid, checkpointsValid, against }: Verdict): boolean {
  return chainValid && checkpointsValid && (against === undefined || isContained(against));
}

async function verifyLive(
  client: Client,
  { against, publicKey }: FlagValues<typeof AUDIT_VERIFY_FLAGS>,
  io: Io,
): Promise<Verdict> {
  const verdict = await verifyOnline(client, io);
  if (against === undefined) return verdict;
  const { compareExport } = await import("./export.ts");
  return { ...verdict, against: await compareExport(client, against, publicKey) };
}

/** Entries that the server checks per request, so that a long chain does not reach a time limit. */
const AT_ONCE = 20_000;

async function verifyOnline(client: Client, io: Io): Promise<Verdict> {
  const head = await findAuditHead(client);
  let verdict: Verdict = { entries: head, checkpoints: 0, chainValid: true, checkpointsValid: true, anomalies: [] };
  // The last range reaches beyond the last entry, so that the server also reports missing and surplus entries at the end. Entries are
  // numbered from 1, so a range may end at the last one.
  for (let fromSeq = 0; fromSeq <= head + 1; fromSeq += AT_ONCE) {
    const query = { fromSeq, toSeq: fromSeq + AT_ONCE - 1 };
    const part = await client.audit.verify(query);
    verdict = {
      entries: head,
      checkpoints: verdict.checkpoints + part.checkpoints.length,
      chainValid: verdict.chainValid && part.chainValid,
      checkpointsValid: verdict.checkpointsValid && part.checkpointsValid,
      anomalies: [...verdict.anomalies, ...part.anomalies],
    };
    // An entry that was put far beyond the end: nothing is between, and there may be more of it than can be asked for.
    if (part.anomalies.some(({ atSeq }) => atSeq > query.toSeq)) break;
    io.progress(`${Math.min(query.toSeq, head).toLocaleString("en-US")} of ${formatCount(head, "entry")} …`);
  }
  return verdict;
}

const SHOWN = 10;

function describe(verdict: Verdict, { paint }: Io): string[] {
  const { entries, checkpoints, checkpointsValid, anomalies, against } = verdict;
  const what = `${formatCount(entries, "audit entry")}, ${formatCount(checkpoints, "checkpoint")}`;
  if (isValid(verdict)) {
    return [
      `${paint.green("valid")}  ${what}`,
      ...unsignedLines(verdict),
      ...(against ? [containedText(against)] : []),
    ];
  }
  return [
    `${paint.red("NOT VALID")}  ${what}`,
    ...unsignedLines(verdict),
    ...(checkpointsValid ? [] : ["A checkpoint is missing, or does not cover the entries it was signed for."]),
    ...(against === undefined ? [] : comparisonLines(against)),
    ...firstLines(anomalies.map(anomalyText), SHOWN, (left) => `And ${left} more; --json shows all.`),
  ];
}

function anomalyText({ atSeq, expectedPrevHash, actualPrevHash }: AuditAnomaly): string {
  const found = actualPrevHash || "nothing legible";
  return printable(`Entry ${atSeq} should follow ${expectedPrevHash} and follows ${found}.`);
}

/** Hashes prove nothing about the author: a holder of the file can compute them. Only a checkpoint's signature does. */
function unsignedLines({ entries, signedThrough, toSeq = entries }: Verdict): string[] {
  if (signedThrough === undefined || signedThrough >= toSeq) return [];
  if (signedThrough === 0) return ["No entry is signed: any holder of the file can have written them."];
  return [`Entries after ${signedThrough} are not signed yet: any holder of the file can have written them.`];
}

function containedText({ file, entries, checkpoints }: Comparison): string {
  return printable(
    `It contains all of ${file}: ${formatCount(entries, "entry")}, ${formatCount(checkpoints, "checkpoint")}.`,
  );
}

function comparisonLines(comparison: Comparison): string[] {
  const { file, exportValid, differsAt, missingCheckpoints } = comparison;
  if (isContained(comparison)) return [containedText(comparison)];
  return [
    ...(exportValid ? [] : [`${file} is not valid on its own; check it with --file.`]),
    ...(differsAt === undefined ? [] : [`Entry ${differsAt} of ${file} is missing or different on the server.`]),
    ...(missingCheckpoints.length === 0
      ? []
      : [
          `The server lacks ${formatCount(missingCheckpoints.length, "checkpoint")} of ${file}: at ${missingCheckpoints.slice(0, SHOWN).join(", ")}.`,
        ]),
  ].map((line) => printable(line));
}

function isContained({ exportValid, differsAt, missingCheckpoints }: Comparison): boolean {
  return exportValid && differsAt === undefined && missingCheckpoints.length === 0;
}

export function readAuditPage(client: Client, fromSeq: number, limit: number) {
  return client.audit.entries({ fromSeq, limit });
}
export type AuditPage = Awaited<ReturnType<typeof readAuditPage>>;

/**
 * The sequence of the last entry, 0 when there is none. Doubling, then halving, takes some forty requests for a million entries; reading
 * them all would take a thousand pages.
 */
export async function findAuditHead(client: Client): Promise<number> {
  const reaches = async (seq: number) => {
    // An entry that was put there by hand may be none that the server can read; verification says so.
    const page = await unlessRefused("internal_error", readAuditPage(client, seq, 1));
    return page === undefined || page.entries.length > 0;
  };
  let none = 1;
  while (none < Number.MAX_SAFE_INTEGER && (await reaches(none))) none *= 2;
  let some = Math.floor(none / 2);
  while (none - some > 1) {
    const middle = Math.floor((some + none) / 2);
    if (await reaches(middle)) some = middle;
    else none = middle;
  }
  return some;
}
