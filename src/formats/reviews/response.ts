import {
  AFP_CONFIDENCE_LEVELS,
  AFP_ERROR_CODES,
  AFP_PROCESSING_STATUSES,
  AFP_REMARK_ID_PATTERN,
} from "../../protocol/reviews/afp.ts";
import { PROTOCOL_VERSION } from "./request.ts";

export const CONFIDENCE_LEVELS = AFP_CONFIDENCE_LEVELS;
export type ConfidenceLevel = (typeof CONFIDENCE_LEVELS)[number];
export const ERROR_CODES = AFP_ERROR_CODES;
export type ReviewErrorCode = (typeof ERROR_CODES)[number];
export const PROCESSING_STATUSES = AFP_PROCESSING_STATUSES;
export type ProcessingStatus = (typeof PROCESSING_STATUSES)[number];

/** The pattern of remark ids that the protocol recommends. */
export const REMARK_ID = new RegExp(AFP_REMARK_ID_PATTERN);

/** Members that a provider may add to any of its objects. */
export interface Extended {
  readonly [extension: `x-${string}`]: unknown;
}

export interface Remark extends Extended {
  readonly id: string;
  readonly aspect?: string;
  readonly description?: string;
  readonly recommendation?: string;
}

export interface Confidence extends Extended {
  readonly level: ConfidenceLevel;
  readonly justification: string;
}

export interface PositivePoint extends Extended {
  readonly aspect: string;
  readonly justification: string;
}

export interface Feedback extends Extended {
  readonly confidence?: Confidence;
  readonly positive_points: readonly PositivePoint[];
  readonly areas_for_improvement: readonly Remark[];
  readonly general_summary?: string;
}

export interface ProviderError extends Extended {
  readonly code: string;
  readonly message?: string;
}

export interface Acknowledgement extends Extended {
  readonly id: string;
  readonly processing_status: ProcessingStatus;
}

/** A usable answer, without its minor errors. */
export type ReviewResponse =
  | {
      readonly status: "success";
      readonly iteration: number;
      readonly feedback: Feedback;
      readonly acknowledged?: readonly Acknowledgement[];
      readonly extensions?: Extended;
    }
  | {
      readonly status: "error";
      readonly iteration: number;
      readonly error: ProviderError;
      readonly acknowledged?: readonly Acknowledgement[];
      /** Extensions of the provider at the top level; their names begin with `x-`. */
      readonly extensions?: Extended;
    };

/** The answer as it would be on the wire, without its minor errors. */
export function responseOnWire(response: ReviewResponse): object {
  const { iteration, status, acknowledged, extensions } = response;
  return {
    protocol_version: PROTOCOL_VERSION,
    iteration,
    status,
    ...(response.status === "success" ? { feedback: response.feedback } : { error: response.error }),
    ...(acknowledged === undefined ? {} : { applied_feedback_ack: { items: acknowledged } }),
    ...extensions,
  };
}
