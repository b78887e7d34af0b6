import type {
  CalibrateJudge,
  CertificateListQuery,
  CertificatePage,
  CertificateView,
} from "../../protocol/evals/judge-certificate-api.ts";
import type { ImportTapeRequest, ImportTapeResponse } from "../../protocol/tapes/api.ts";

/** Where a judge is calibrated: a server, or this process with the database of this machine. */
export interface JudgeHome {
  /** Gives the id of the run that does it. */
  calibrate(request: CalibrateJudge): Promise<string>;
  /** What became of that run. */
  ended(runId: string): Promise<EndedCalibration>;
  certificate(certificateId: string): Promise<CertificateView>;
  certificates(query: CertificateListQuery): Promise<CertificatePage>;
  importTape(request: ImportTapeRequest): Promise<ImportTapeResponse>;
  storeBody(runId: string, hash: string, base64: string): Promise<void>;
  pushSidecar(runId: string, sidecar: string): Promise<void>;
}

export interface EndedCalibration {
  readonly status: string;
  readonly certificateId?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export function endedOf(
  status: string,
  outputs: unknown,
  error: { readonly code: string; readonly message: string } | undefined,
): EndedCalibration {
  const { certificateId } = (outputs ?? {}) as { certificateId?: string };
  return {
    status,
    ...(certificateId === undefined ? {} : { certificateId }),
    ...(error === undefined ? {} : { error }),
  };
}
