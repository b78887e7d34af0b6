import type { Members } from "./field-names.ts";

export const CONFIDENCE_LEVELS = ["high", "medium", "low"] as const;
export type ConfidenceLevel = (typeof CONFIDENCE_LEVELS)[number];
export const ERROR_CODES = ["INVALID_REQUEST", "UNSUPPORTED_MEDIA_TYPE", "INTERNAL_ERROR"] as const;
export type ReviewErrorCode = (typeof ERROR_CODES)[number];
export const PROCESSING_STATUSES = ["acknowledged", "unknown_id"] as const;
export type ProcessingStatus = (typeof PROCESSING_STATUSES)[number];

/** What ids of remarks look like when their provider keeps to the rules. */
export const REMARK_ID = /^[a-z0-9._-]{8,128}$/;

export interface Remark {
  readonly id: string;
  readonly aspect?: string;
  readonly description?: string;
  readonly recommendation?: string;
  /** Extensions of the provider. */
  readonly [extension: `x-${string}`]: unknown;
}

export interface Feedback {
  readonly confidence?: { readonly level: ConfidenceLevel; readonly justification: string };
  readonly positive_points: readonly { readonly aspect: string; readonly justification: string }[];
  readonly areas_for_improvement: readonly Remark[];
  readonly general_summary?: string;
}

export interface Acknowledgement {
  readonly id: string;
  readonly processing_status: ProcessingStatus;
}

/** An answer that can be used, with what is wrong in small things left out. */
export type ReviewResponse =
  | {
      readonly status: "success";
      readonly iteration: number;
      readonly feedback: Feedback;
      readonly acknowledged?: readonly Acknowledgement[];
      readonly extensions?: Members;
    }
  | {
      readonly status: "error";
      readonly iteration: number;
      readonly error: { readonly code: string; readonly message?: string };
      readonly acknowledged?: readonly Acknowledgement[];
      /** Of the provider, at the top; each under a name that begins with `x-`. */
      readonly extensions?: Members;
    };
