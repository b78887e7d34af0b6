import type { AuditAnomaly, AuditVerifyResult } from "../../protocol/audit.ts";
import { AppError } from "../../protocol/errors.ts";
import { formatCount } from "../amount.ts";
import { findAuditHead } from "../audit-head.ts";
import { type Client, connect } from "../client.ts";
import type { Call } from "../command.ts";
import { errorLine } from "../complaint.ts";
import { EXIT } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { printable } from "../printable.ts";
import type { AUDIT_VERIFY_FLAGS } from "../specs/audit.ts";

export interface Verdict {
  readonly entries: number;
  readonly checkpoints: number;
  readonly chainValid: boolean;
  readonly checkpointsValid: boolean;
  readonly anomalies: readonly AuditAnomaly[];
}

export async function auditVerify({ flags, json, config, io }: Call<typeof AUDIT_VERIFY_FLAGS>): Promise<number> {
  const verdict =
    flags.file === undefined
      ? await verifyOnline(connect(config), io).catch(nothingToVerify)
      : await (await import("../verify-export.ts")).verifyExport(flags.file, flags.publicKey);
  if (verdict === undefined) {
    const message =
      "this host does not serve its audit chain (auditLogIntegrity is off); nothing can be said about it.";
    io.err(errorLine({ error: "capability_not_provided", message, details: {} }, json));
    return EXIT.noVerdict;
  }
  if (json) io.out(JSON.stringify(verdict));
  else for (const line of describe(verdict, io)) io.out(line);
  return verdict.chainValid && verdict.checkpointsValid ? EXIT.fine : EXIT.negative;
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
  for (let fromSeq = 0; fromSeq <= head; fromSeq += AT_ONCE) {
    // The last range reaches beyond the head: the server then also looks for entries that should not be there.
    const query = { fromSeq, toSeq: fromSeq + AT_ONCE - 1 };
    const part = await client.json<AuditVerifyResult>("/v1/audit/verify", { query });
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
  const { entries, checkpoints, chainValid, checkpointsValid, anomalies } = verdict;
  const what = `${formatCount(entries, "audit entry")}, ${formatCount(checkpoints, "checkpoint")}`;
  if (chainValid && checkpointsValid) return [`${paint.green("valid")}  ${what}`];
  const more = anomalies.length - SHOWN;
  return [
    `${paint.red("NOT VALID")}  ${what}`,
    ...(checkpointsValid ? [] : ["A checkpoint does not cover the entries it was signed for."]),
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
