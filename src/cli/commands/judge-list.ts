import type { CertificateView } from "../../protocol/judge-certificate-api.ts";
import type { Call } from "../command.ts";
import { withHome } from "../evals/choose-home.ts";
import { kappaText } from "../judges/certificate-text.ts";
import { printable } from "../printable.ts";
import type { JUDGE_LIST_FLAGS } from "../specs/judge.ts";
import { formatTable } from "../table.ts";

const SHOWN = 50;

export async function judgeList(call: Call<typeof JUDGE_LIST_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const query = { limit: SHOWN, ...(flags.suite === undefined ? {} : { suiteId: flags.suite }) };
  const { certificates } = await withHome(call, (home) => home.judge.certificates(query), { reads: true });
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
