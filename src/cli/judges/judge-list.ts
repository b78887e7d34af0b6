import type { CertificateView } from "../../protocol/evals/judge-certificate-api.ts";
import { withBackend } from "../evals/choose-backend.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { kappaText } from "./certificate-text.ts";
import type { JUDGE_LIST_FLAGS } from "./commands.ts";

const SHOWN = 50;

export async function judgeList(call: Call<typeof JUDGE_LIST_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const query = { limit: SHOWN, ...(flags.suite === undefined ? {} : { suiteId: flags.suite }) };
  const { certificates } = await withBackend(call, async ({ client }) => client.judges.certificates(query), {
    reads: true,
  });
  if (json) io.out(JSON.stringify({ certificates }));
  else if (certificates.length === 0) io.err("No certificates yet. Make one with: assay judge calibrate");
  else {
    const headings = ["CERTIFICATE", "SUITE", "JUDGE", "N", "KAPPA", "EXPIRES", "HOLDS"];
    io.out(formatTable(headings, certificates.map(rowOf), io.paint));
  }
}

function rowOf({ certificateId, suiteId, suiteVersion, certificate, valid, problems }: CertificateView): string[] {
  const { model, report, expiresAt } = certificate;
  return [
    certificateId,
    `${suiteId}@${suiteVersion}`,
    model,
    String(report.n),
    kappaText(report),
    expiresAt.slice(0, 10),
    valid ? "yes" : `no: ${problems.map(({ code }) => code).join(", ")}`,
  ].map(printable);
}
