import type { Visibility } from "../../protocol/identity/identity.ts";
import type { RowPage } from "./large-rows.ts";

/** The type of the artifacts that are bodies of a tape. Their ids are the hashes. */
export const TAPE_BODY = "tape-body";

/** Recorded runs that came as tapes, and the sidecars that were pushed to runs. */
export interface Tapes {
  /** The tape that a run was imported from; undefined when there is none, or the caller cannot see it. */
  readTape(visible: Visibility, runId: string): Promise<StoredTape | undefined>;
  /** Runs that came from tapes with this digest, or all, newest first; `before` is the id of the last one of the page before. `cut` where headers are long. */
  listTapes(visible: Visibility, query: TapeQuery): Promise<RowPage<TapeOutline>>;
  /** The sidecar as it was last pushed to a run, whatever run that is. */
  readSidecar(visible: Visibility, runId: string): Promise<StoredSidecar | undefined>;
  /** Hashes of the bodies of a run that are here, sorted; each is an artifact of that name and of `TAPE_BODY`. */
  bodiesHere(visible: Visibility, runId: string): Promise<string[]>;
}

export interface TapeQuery {
  readonly limit: number;
  readonly digest?: string;
  readonly before?: string;
}

export interface StoredTape {
  readonly runId: string;
  readonly tenant: string;
  readonly workspace?: string;
  /** Of the records as they came, before anything was scrubbed. */
  readonly digest: string;
  /** The header line as a writer of tapes prints it, scrubbed. */
  readonly header: string;
  /** The name of the file, scrubbed. */
  readonly name?: string;
  readonly records: number;
  /** Hashes of the bodies that records refer to, each once, sorted; which of them are here is for the artifacts of the run to say. */
  readonly bodies: readonly string[];
  readonly importedBy: string;
  readonly importedAtMs: number;
}

/** What lists show of a tape: there may be hundreds of thousands of bodies. */
export interface TapeOutline extends Omit<StoredTape, "header" | "bodies"> {
  /** At most `HEADER_CHARACTERS_MAX` characters: headers had no limit once. */
  readonly headerStart: string;
}

/** The longest header line that a tape may have to be imported. */
export const HEADER_CHARACTERS_MAX = 65_536;

export interface StoredSidecar {
  readonly runId: string;
  /** Counts up with every push that changed the text; the first is 1. */
  readonly revision: number;
  /** All of the file, comments and line ends included, scrubbed. */
  readonly text: string;
  readonly pushedBy: string;
  readonly pushedAtMs: number;
}

export type TapeWrite =
  /** With the first write of its run. Refused when the same digest is there already for the same tenant and workspace. */
  | { readonly type: "import"; readonly tape: StoredTape }
  /** Refused unless the run is there and its sidecar stands at the revision before, or there is none and this is 1. */
  | { readonly type: "sidecar"; readonly tenant: string; readonly sidecar: StoredSidecar };
