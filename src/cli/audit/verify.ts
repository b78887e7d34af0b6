import type { AuditAnomaly } from "../../protocol/audit/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import { type Client, connect } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call, FlagValues } from "../program/command.ts";
import { errorLine } from "../program/error-line.ts";
import { EXIT } from "../program/exit-codes.ts";
import { findAuditHead } from "./audit-head.ts";
import type { AUDIT_VERIFY_FLAGS } from "./commands.ts";
import { type Comparison, compareExport, isContained } from "./compare-export.ts";

export interface Verdict {
  readonly entries: number;
  readonly checkpoints: number;
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  readonly anomalies: readonly AuditAnomaly[];
  /** Of an export: its last entry, and the last that a checkpoint signs, 0 where there is none. */
  readonly toSeq?: number;
  readonly signedThrough?: number;
  /** With `--against`. */
  readonly against?: Comparison;
}

export async function auditVerify({ flags, json, config, io }: Call<typeof AUDIT_VERIFY_FLAGS>): Promise<number> {
  if (flags.file !== undefined && flags.against !== undefined) {
    throw new AppError("unusable_input", { problem: "use either --file, without a server, or --against, with one" });
  }
  const verdict =
    flags.file === undefined
      ? await verifyLive(connect(config), flags, io).catch(nothingToVerify)
      : await (await import("./verify-export.ts")).verifyExport(flags.file, flags.publicKey);
  if (verdict === undefined) {
    const message =
      "this host does not serve its audit chain (auditLogIntegrity is off); nothing can be said about it.";
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
  return { ...verdict, against: await compareExport(client, against, publicKey) };
}

/** Where the capability is off the routes do not exist. */
function nothingToVerify(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== "not_found") throw error;
}

/** Entries the server walks per request, so that a long chain does not run into a time limit. */
const AT_ONCE = 20_000;

async function verifyOnline(client: Client, io: Io): Promise<Verdict> {
  const head = await findAuditHead(client);
  let verdict: Verdict = { entries: head, checkpoints: 0, chainValid: true, checkpointsValid: true, anomalies: [] };
  // The last range reaches beyond the last entry that is there: the server then also looks for what should be there and is not, and
  // for what should not be. Entries are numbered from 1, so a range may end at the last one.
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
  const more = anomalies.length - SHOWN;
  return [
    `${paint.red("NOT VALID")}  ${what}`,
    ...unsignedLines(verdict),
    ...(checkpointsValid ? [] : ["A checkpoint is missing, or does not cover the entries it was signed for."]),
    ...(against === undefined ? [] : comparisonLines(against)),
    ...anomalies
      .slice(0, SHOWN)
      .map(({ atSeq, expectedPrevHash, actualPrevHash }) =>
        printable(
          `Entry ${atSeq} should follow ${expectedPrevHash} and follows ${actualPrevHash || "nothing legible"}.`,
        ),
      ),
    ...(more > 0 ? [`And ${more} more; --json shows all.`] : []),
  ];
}

/** Hashes are made by anybody; only what a checkpoint signs cannot have been written by whoever had the file. */
function unsignedLines({ entries, signedThrough, toSeq = entries }: Verdict): string[] {
  if (signedThrough === undefined || signedThrough >= toSeq) return [];
  if (signedThrough === 0) return ["None of its entries is signed: anybody can have written them."];
  return [`What comes after entry ${signedThrough} is not signed yet: anybody can have written it.`];
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
    ...(exportValid ? [] : [`${file} does not hold by itself; check it with --file.`]),
    ...(differsAt === undefined ? [] : [`Entry ${differsAt} of ${file} is missing on the server, or another one.`]),
    ...(missingCheckpoints.length === 0
      ? []
      : [
          `The server lacks ${formatCount(missingCheckpoints.length, "checkpoint")} of ${file}: at ${missingCheckpoints.slice(0, SHOWN).join(", ")}.`,
        ]),
  ].map((line) => printable(line));
}
