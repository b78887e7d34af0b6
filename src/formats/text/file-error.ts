/** Errors of the readers of tapes and sidecars and of their commands. Nothing has been written then. */
export type FileErrorCode =
  | "tape_read_failed"
  | "tape_empty"
  | "tape_header_parse"
  | "tape_header_missing"
  | "unsupported_tape_version"
  | "tape_record_parse"
  | "tape_second_header"
  | "read_failed"
  | "empty_file"
  | "header_parse"
  | "header_missing"
  | "unsupported_schema_version"
  | "record_parse"
  | "second_header"
  | "unknown_kind_filter"
  | "bad_format"
  | "process_tape_read_failed"
  | "process_tape_parse"
  | "process_tape_invalid"
  | "process_tape_mismatch"
  | "recorder_not_started"
  | "bundle_read_failed"
  | "bundle_invalid"
  | "unsupported_bundle_version"
  | "body_damaged"
  | "file_changed"
  | "write_failed";

/** The place of an error: `line` counts every physical line from 1, `entry` the entries of a list, `declared` and `supported` are versions. */
export interface FileErrorPlace {
  readonly line?: number;
  readonly entry?: number;
  readonly declared?: number;
  readonly supported?: number;
}

/** A tape or a sidecar that cannot be loaded, exported or written. Scripts compare the message; `path` is as given. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly code: FileErrorCode;
  readonly path: string;
  readonly place: FileErrorPlace;

  constructor(code: FileErrorCode, path: string, message: string, place: FileErrorPlace = {}) {
    super(message);
    this.code = code;
    this.path = path;
    this.place = place;
  }
}
