import { defined } from "../../../protocol/defined.ts";
import type { Bytes } from "../../text/lines.ts";
import type { TapeFacts } from "../tape-facts.ts";
import { Validation } from "../validate/validate.ts";
import { Chains } from "./current-rows.ts";
import { FileEnd } from "./new-row.ts";
import { readSidecar } from "./read-sidecar.ts";
import type { Row, SidecarHeader } from "./sidecar.ts";

/** The content of a sidecar, as far as a new row depends on it. */
export interface SidecarState {
  /** Absent when there is no file yet. */
  readonly header?: SidecarHeader;
  readonly end: FileEnd;
  readonly ids: ReadonlySet<string>;
  /** The number of problems of its rows. */
  readonly problems: number;
  /** The row with the wanted id. */
  readonly earlier?: EarlierRow;
  /** The events of rows that have the wanted id and are about other events than the wanted one. */
  readonly elsewhere: readonly bigint[];
}

export interface EarlierRow {
  readonly row: Row;
  /** The ids of the newest rows that replace it. Empty when it is the newest itself. */
  readonly newest: readonly string[];
}

interface Wanted {
  readonly id: string | undefined;
  /** Undefined for a row of any event. */
  readonly event: bigint | undefined;
}

export function newSidecar(): SidecarState {
  return { end: new FileEnd(), ids: new Set(), problems: 0, elsewhere: [] };
}

/** Reads a sidecar. Throws `FileError` for a file that is not a sidecar. */
export async function sidecarState(path: string, bytes: Bytes, tape: TapeFacts, wanted: Wanted): Promise<SidecarState> {
  const end = new FileEnd();
  const ids = new Set<string>();
  const validation = await Validation.start(tape);
  const found = new FoundRow(wanted);
  const header = await readSidecar(path, tapped(bytes, end), (row, line) => {
    validation.row(row, line);
    if (row.id !== "") ids.add(row.id);
    found.take(row);
  });
  // The header is validated with the new row, so its problems do not count here.
  const { findings } = validation.end({ ...header, tape_content_hash: null }, 0);
  const earlier = found.earlier();
  const { elsewhere } = found;
  return { header, end, ids, problems: findings.length, ...defined({ earlier }), elsewhere };
}

async function* tapped(bytes: Bytes, end: FileEnd): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    end.take(piece);
    yield piece;
  }
}

/** Finds a row among those of a sidecar, and the rows that replace it. */
class FoundRow {
  readonly #wanted: Wanted;
  readonly #chains = new Chains();
  readonly #ids: string[] = [];
  readonly elsewhere: bigint[] = [];
  #found: { readonly row: Row; readonly index: number } | undefined;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  take(row: Row): void {
    if (this.#wanted.id === undefined) return;
    const index = this.#chains.add(row);
    this.#ids.push(row.id);
    if (row.id !== this.#wanted.id) return;
    if (this.#wanted.event === undefined || this.#wanted.event === row.event_id) this.#found = { row, index };
    else this.elsewhere.push(row.event_id);
  }

  earlier(): EarlierRow | undefined {
    if (this.#found === undefined) return undefined;
    const { row, index } = this.#found;
    return { row, newest: this.#chains.newestOf(index).map((one) => this.#ids[one] || "one without an id") };
  }
}
